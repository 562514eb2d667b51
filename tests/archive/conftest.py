"""An archive in a folder, and one behind a real S3 server."""

from datetime import timedelta

import pytest

from horae.archive.object_store import open_target
from horae.runtime.settings import Settings
from horae.upkeep.archive import DayArchiver
from tests.archive.history import make_days
from tests.archive.s3_server import S3Server, s3_server

KEPT, EXPIRY = timedelta(days=14), timedelta(days=90)


@pytest.fixture(scope="session")
def s3(tmp_path_factory) -> S3Server:
    with s3_server(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture(params=["file", "s3"])
def settings(request, tmp_path):
    """The settings of an archive, once in a folder and once in a bucket."""
    if request.param == "file":
        return Settings(archive=f"file://{tmp_path}/archive", environment="test")
    return request.getfixturevalue("s3").settings()


@pytest.fixture
def target(settings):
    return open_target(settings)


@pytest.fixture
def folder_target(tmp_path):
    return open_target(Settings(archive=f"file://{tmp_path}/archive", environment="test"))


@pytest.fixture
async def past(store):
    """Tables for the last 30 days, in each cell."""
    await make_days(store, 30)


@pytest.fixture
def archiver(store, folder_target, past):
    return DayArchiver(store, folder_target, KEPT, EXPIRY)
