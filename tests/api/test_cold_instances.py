"""Archived instances through the API, in the role that row-level security holds."""

import random
import shutil

import pytest

from horae.archive.object_store import open_target
from horae.domain.encryption.encrypted_values import payload_of
from horae.domain.ids import Prefix, public
from horae.runtime.settings import Settings
from horae.security.payload_cipher import encrypt_value
from horae.security.roles import Role
from horae.service.context import Context
from horae.service.identity.callers import Callers
from horae.service.instances import tiers
from horae.service.instances.archive_reader import ArchiveReader
from horae.service.memory import Memory
from horae.upkeep.archive import DayArchiver
from tests.archive.cold_days import PATIENCE_S, archive_days, drop_days, some_rows
from tests.archive.conftest import EXPIRY, KEPT
from tests.archive.history import day_of, insert, make_days, some_id
from tests.steps import a_job

COLD = 4
SECRET_WORDS = {"card": "4000-0000"}


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "archive"


@pytest.fixture
def target(folder):
    return open_target(Settings(archive=f"file://{folder}", environment="test"))


@pytest.fixture
def callers(doors, target):
    return Callers(doors, Memory(ArchiveReader(target, PATIENCE_S)))


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    monkeypatch.setattr(tiers, "CROSSING_S", PATIENCE_S)


async def with_past(store, ctx, ago_days, dice):
    """A job `nightly` with five instances on each of some days; returns the ids of the cold ones, and of all."""
    job, cold, all_ids = await a_job(ctx, "nightly"), set(), set()
    cell = store.cell(job.shard)
    for ago in ago_days:
        made = await some_rows(cell, ctx.tenant.id, job.id, ago, 5, dice, keyed=False, shard=job.shard)
        all_ids.update(made)
        cold.update(made if ago >= COLD else [])
    return job, {public(Prefix.INSTANCE, id_) for id_ in cold}, {public(Prefix.INSTANCE, id_) for id_ in all_ids}


@pytest.fixture
async def acme(store, ctx):
    await make_days(store, 20)
    return await with_past(store, ctx, range(1, 10), random.Random(1))


async def make_cold(store, target):
    await archive_days(DayArchiver(store, target, KEPT, EXPIRY))
    await drop_days(store, COLD)


async def all_items(client, path, **query):
    found, reads, cursor = [], [], {}
    while cursor is not None:
        answer = await client.get(path, params=query | {"limit": 7} | cursor)
        assert answer.status_code == 200, answer.text
        page = answer.json()
        found += page["items"]
        reads.append(page["archive"])
        cursor = {"cursor": page["next"]} if page["next"] else None
    return found, reads


async def test_lists_go_on_into_the_archive_and_say_so(client, store, target, acme):
    _, cold, all_ids = acme
    viewer = await client(Role.VIEWER)
    before = {path: (await all_items(viewer, path))[0] for path in ("/jobs/nightly/instances", "/instances")}
    await make_cold(store, target)
    for path, rows in before.items():
        found, reads = await all_items(viewer, path)
        assert {one["id"] for one in found} == all_ids
        assert [one for one in found if one["id"] in cold] == [one for one in rows if one["id"] in cold]
        first_cold = min(place for place, one in enumerate(found) if one["id"] in cold)
        assert {one["id"] for one in found[first_cold:]} == cold, "cold ones come after hot ones"
        assert reads[0] is None
        assert set(reads[-1]) == {"days", "requests", "bytes", "seconds"}


async def test_an_archived_payload_is_decrypted_as_a_hot_one_is(client, ctx, store, target, acme):
    job, *_ = acme
    cell = store.cell(job.shard)
    key = await ctx.store.cipher.key(ctx.tenant.id)
    sealed = encrypt_value(key, payload_of(job.id, "by hand"), SECRET_WORDS)
    at = day_of(cell, 6).begin
    id_ = await insert(
        cell,
        tenant_id=ctx.tenant.id,
        job_id=job.id,
        ended_at=at,
        id=some_id(at, job.shard),
        idem_key="by hand",
        shard_id=job.shard,
        payload={"$sealed": sealed.text},
        attempts=[{"attempt": 1, "status": 200, "duration_ms": 5}],
    )
    path = f"/instances/{public(Prefix.INSTANCE, id_)}"
    viewer = await client(Role.ADMIN)
    hot = (await viewer.get(path)).json()
    await make_cold(store, target)
    cold = (await viewer.get(path)).json()
    assert cold.pop("archive")["days"] == 1
    assert hot.pop("archive") is None
    assert hot == cold
    assert (cold["payload"], cold["job"]) == (SECRET_WORDS, "nightly")
    for file in (target._folder).rglob("*.parquet"):
        assert b"4000-0000" not in file.read_bytes()


async def test_archived_instances_of_another_tenant_are_not_found(client, store, target, acme, other):
    """S-02: by id, by job, by cursor."""
    _, cold, all_ids = acme
    job, their_cold, their_ids = await with_past(store, Context.of(store, other, "test"), range(3, 7), random.Random(2))
    await make_cold(store, target)
    mine, theirs = await client(Role.ADMIN), await client(Role.ADMIN, of=other)
    for caller, foreign, own in ((mine, their_cold, all_ids), (theirs, cold, their_ids)):
        for id_ in foreign:
            assert (await caller.get(f"/instances/{id_}")).status_code == 404
            assert (await caller.post(f"/instances/{id_}/cancel")).status_code == 404
            assert (await caller.post(f"/instances/{id_}/retry")).status_code == 404
        for path in ("/jobs/nightly/instances", "/instances"):
            found, _ = await all_items(caller, path)
            assert {one["id"] for one in found} == own
    path = f"/jobs/{public(Prefix.JOB, job.id)}/instances"
    assert (await mine.get(path)).status_code == 404
    cursor = (await theirs.get("/instances", params={"limit": 19})).json()["next"]
    assert (await mine.get("/instances", params={"limit": 19, "cursor": cursor})).status_code == 422


async def test_an_archive_that_lost_its_files_is_told_and_hot_instances_are_listed(client, store, folder, target, acme):
    _, cold, all_ids = acme
    await make_cold(store, target)
    shutil.rmtree(folder)
    viewer = await client(Role.VIEWER)
    answer = (await viewer.get("/jobs/nightly/instances", params={"limit": 200})).json()
    assert {one["id"] for one in answer["items"]} == all_ids - cold
    assert answer["archive"] is None
    following = await viewer.get("/jobs/nightly/instances", params={"limit": 200, "cursor": answer["next"]})
    by_id = await viewer.get(f"/instances/{min(cold)}")
    for refused in (following, by_id):
        assert (refused.status_code, refused.json()["code"]) == (503, "SCH_503_ARCHIVE")
        assert "Retry-After" in refused.headers
