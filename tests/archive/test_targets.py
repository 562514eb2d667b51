"""Object storage as the archive uses it: a folder and a real S3 server answer alike."""

import socket
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from horae import archive
from horae.archive import object_store, targets
from horae.archive.object_store import open_target
from horae.domain.errors import Invalid, NotFound, Unavailable
from horae.runtime.settings import Settings


def test_what_is_put_can_be_read_whole_in_parts_and_listed(target):
    target.put("days/a/one.parquet", b"0123456789")
    target.put("days/b/two.parquet", b"")
    assert target.get("days/a/one.parquet") == b"0123456789"
    assert target.get_range("days/a/one.parquet", 3, 4) == b"3456"
    assert target.listing("days/a/") == [("days/a/one.parquet", 10)]
    assert sorted(one.name for one in target.listing("days/")) == ["days/a/one.parquet", "days/b/two.parquet"]
    assert target.listing("nothing/") == []


def test_an_object_of_many_parts_comes_back_as_it_was(target, monkeypatch):
    monkeypatch.setattr(object_store, "PART_BYTES", 5 << 20)
    content = bytes(range(256)) * (12 << 12)
    targets.put_verified(target, "days/large", content)
    assert target.get_range("days/large", len(content) - 3, 3) == content[-3:]


def test_what_is_not_there_is_refused_and_may_be_deleted(target):
    with pytest.raises(NotFound):
        target.get("days/none")
    with pytest.raises(NotFound):
        target.get_range("days/none", 0, 1)
    target.delete("days/none")
    target.put("days/one", b"1")
    target.delete("days/one")
    with pytest.raises(NotFound):
        target.get("days/one")


def test_of_64_rivals_one_creates_an_object(target):
    with ThreadPoolExecutor(16) as rivals:
        won = list(rivals.map(lambda n: target.create("days/manifest-0001.json", b"%d" % n), range(64)))
    assert won.count(True) == 1
    assert target.get("days/manifest-0001.json") == b"%d" % won.index(True)


def test_a_server_that_is_away_is_unavailable(monkeypatch):
    monkeypatch.setattr(object_store, "MAX_RETRIES", 0)
    away = open_target(Settings(archive="s3://bucket", archive_endpoint="http://127.0.0.1:9", environment="test"))
    for call in (lambda: away.put("x", b"1"), lambda: away.get("x"), lambda: away.listing("x/")):
        with pytest.raises(Unavailable):
            call()


def test_a_server_that_never_answers_is_unavailable_after_some_time(monkeypatch):
    monkeypatch.setattr(object_store, "MAX_RETRIES", 0)
    monkeypatch.setattr(object_store, "REQUEST_TIMEOUT", timedelta(seconds=0.3))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
        target = open_target(
            Settings(archive="s3://bucket", archive_endpoint=endpoint, archive_key_id="a", archive_secret="b")
        )
        for call in (lambda: target.put("x", b"1"), lambda: target.create("x", b"1"), lambda: target.get("x")):
            with pytest.raises(Unavailable):
                call()


def test_wrong_credentials_are_unavailable(seaweedfs):
    wrong = open_target(seaweedfs.settings().model_copy(update={"archive_secret": "wrong"}))
    with pytest.raises(Unavailable):
        wrong.put("x", b"1")


@pytest.mark.parametrize("url", ["", "ftp://host/x", "s3://", "file://", "file://host/x", "/folder", "file:///"])
def test_an_address_that_leads_nowhere_is_refused(url):
    with pytest.raises(Invalid, match="HORAE_ARCHIVE is"):
        open_target(Settings(archive=url))


def test_in_production_an_endpoint_speaks_tls_or_is_on_this_machine():
    for endpoint in ("http://minio.internal:9000", "ftp://127.0.0.1"):
        with pytest.raises(Invalid, match="https"):
            open_target(Settings(environment="production", archive="s3://bucket", archive_endpoint=endpoint))
    open_target(Settings(environment="production", archive="s3://bucket", archive_endpoint="http://127.0.0.1:9000"))
    open_target(Settings(environment="production", archive="s3://bucket", archive_endpoint="https://minio.internal"))
    open_target(Settings(environment="production", archive="s3://bucket"))


def test_without_the_extra_the_setting_says_what_to_install(monkeypatch):
    def missing(_):
        raise ModuleNotFoundError("No module named 'obstore'", name="obstore")

    monkeypatch.setattr(archive, "import_module", missing)
    with pytest.raises(Invalid, match=r"an archive needs obstore: pip install horae\[archive\]"):
        archive.load("object_store")
