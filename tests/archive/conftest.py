"""An archive in a folder, and behind real S3 servers."""

from datetime import timedelta

import pytest

from horae.archive.object_store import open_target
from horae.runtime.settings import Settings
from horae.upkeep.archive import DayArchiver
from tests.archive import s3_server
from tests.archive.history import make_days

KEPT, EXPIRY = timedelta(days=14), timedelta(days=90)


@pytest.fixture(scope="package")
def seaweedfs(tmp_path_factory):
    with s3_server.seaweedfs(tmp_path_factory.mktemp("seaweedfs")) as server:
        yield server


@pytest.fixture(scope="package")
def versitygw(tmp_path_factory):
    with s3_server.versitygw(tmp_path_factory.mktemp("versitygw")) as server:
        yield server


@pytest.fixture(params=["file", *s3_server.SERVERS])
def settings(request, tmp_path):
    """The settings of an archive: in a folder, and in a bucket of each S3 server."""
    if request.param == "file":
        return Settings(archive=f"file://{tmp_path}/archive", environment="test")
    return request.getfixturevalue(request.param).settings()


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
