"""Killed at any step, with a bucket that fails, lies or hangs: one truth in the end, and nothing lost on the way."""

from datetime import timedelta
from itertools import product
from signal import SIGKILL
from uuid import UUID

import pytest

from horae.archive import day_reader, sorting
from horae.archive.layout import DayFolder
from horae.domain.errors import Unavailable
from horae.store.databases import archived_days
from horae.upkeep.archive import DayArchiver
from horae.upkeep.days import DayDropper
from tests.archive.conftest import EXPIRY, KEPT
from tests.archive.history import day_of, insert, insert_all_kinds, make_days, rows_in, some_id
from tests.archive.killers import FEW_ROWS, OF_STORE, STEPS, Killer, WatchedTarget
from tests.archive.test_duty import HELD, archive_all, archived_rows, has_table, known_day
from tests.steps import query
from tests.system.children import Child, python

TIMES = 10
LONG = (pytest.mark.long, pytest.mark.timeout(3600))
FIRST_JOB = UUID(int=0)
"""A row of it comes first in its group, so that every file of the group changes, and no round has fewer calls."""


async def check_one_truth(target, cell, day):
    """The newest generation has the rows of the table, is the one recorded, and nothing else lies about."""
    known = await known_day(cell, day)
    folder = DayFolder(day.day, known["archive_id"])
    manifest = day_reader.newest_manifest(target, folder)
    assert (known["state"], known["generation"], known["rows"]) == ("ARCHIVED", manifest.generation, manifest.rows)
    assert await archived_rows(target, cell, day) == await rows_in(cell, day.partition)
    named = {manifest.name, *(one.name for one in manifest.objects())}
    assert {one.name for one in target.listing(folder.prefix)} == named


async def a_day_of_three_tenants(store, cell):
    await make_days(store, 2)
    day = day_of(cell, 2)
    tenant_ids = [some_id(day.begin) for _ in range(3)]
    for tenant_id in tenant_ids:
        await insert_all_kinds(cell, day, tenant_id, 4)
    return day, tenant_ids


async def add_row(cell, day, tenant_id):
    """The day has a row more than its archive, and is to be archived again."""
    await insert(cell, ended_at=day.begin, tenant_id=tenant_id, job_id=FIRST_JOB)
    await query(cell, "update archived_day set state = 'CLOSING' where day = $1", day.day)


@pytest.mark.parametrize("times", [1, pytest.param(TIMES, marks=LONG)], ids=["once", "ten times"])
@pytest.mark.parametrize("is_after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("step", STEPS, ids="-".join)
async def test_killed_at_any_step_the_next_round_ends_with_one_truth(
    store, folder_target, monkeypatch, step, is_after, times
):
    """At the first call, the second and so on, each time with a row more."""
    monkeypatch.setattr(sorting, "FILE_ROWS", FEW_ROWS)
    cell = store.cells[0]
    day, tenant_ids = await a_day_of_three_tenants(store, cell)
    killer = Killer()
    watched = WatchedTarget(folder_target, killer)
    for name in OF_STORE:
        monkeypatch.setattr(archived_days, name, killer.wrap("store", name, getattr(archived_days, name)))
    await archive_all(DayArchiver(store, watched, KEPT, EXPIRY))

    async def one_round_with_a_row_more():
        await add_row(cell, day, tenant_ids[0])
        killer.calls.clear()
        await DayArchiver(store, watched, KEPT, EXPIRY).once()
        return killer.calls[step]

    calls = await one_round_with_a_row_more()
    await check_one_truth(folder_target, cell, day)
    for time in range(times):
        killer.dies_at, killer.is_after = (step, 1 + time % calls), is_after
        assert await one_round_with_a_row_more() >= 1 + time % calls, "killed there"
        killer.dies_at = None
        await DayArchiver(store, watched, KEPT, EXPIRY).once()
        await check_one_truth(folder_target, cell, day)


@pytest.mark.parametrize(
    ("steps", "times"),
    [([("target", "create"), ("store", "record")], 1), pytest.param(STEPS, TIMES, marks=LONG)],
    ids=["some", "all"],
)
async def test_a_process_killed_with_9_leaves_one_truth_to_the_next(
    store, folder_target, tmp_path, monkeypatch, steps, times, record_property
):
    monkeypatch.setattr(sorting, "FILE_ROWS", FEW_ROWS)
    cell, kills = store.cells[0], 0
    day, tenant_ids = await a_day_of_three_tenants(store, cell)
    archiver = DayArchiver(store, folder_target, KEPT, EXPIRY)
    await archive_all(archiver)
    for (kind, name), when, time in product(steps, ("before", "after"), range(times)):
        await add_row(cell, day, tenant_ids[0])
        child = Child("archiver", tmp_path / "killed.log")
        url, call = f"file://{tmp_path}/archive", 1 + time % 3
        child.spawn(python("tests.archive.killers", cell.dsn, url, kind, name, str(call), when))
        kills += await child.ended(60) == -SIGKILL
        await DayArchiver(store, folder_target, KEPT, EXPIRY).once()
        await check_one_truth(folder_target, cell, day)
    record_property("kills", kills)
    assert kills >= len(steps) * 2 * times / 2, "some steps are reached less often than three times"


class UntrueTarget:
    """A target that goes wrong in one way, for `left` calls."""

    def __init__(self, target, way, left):
        self._target, self._way, self.left = target, way, left

    def __getattr__(self, name):
        return getattr(self._target, name)

    def _goes_wrong(self):
        self.left -= 1
        return self.left >= 0

    def put(self, name, content):
        if not self._goes_wrong():
            return self._target.put(name, content)
        match self._way:
            case "fails" | "times out":
                raise Unavailable(f"the archive {self._way}")
            case "stores and fails":
                self._target.put(name, content)
                raise Unavailable("the answer was lost")
            case "stores nothing":
                return None
            case "stores half":
                return self._target.put(name, content[: len(content) // 2])
            case "stores other bytes":
                return self._target.put(name, content[::-1])
        raise AssertionError(self._way)

    def create(self, name, content):
        if not self._goes_wrong():
            return self._target.create(name, content)
        match self._way:
            case "fails" | "times out":
                raise Unavailable(f"the archive {self._way}")
            case "stores and fails":
                self._target.create(name, content)
                raise Unavailable("the answer was lost")
            case "stores nothing":
                return True
            case "stores half":
                return self._target.create(name, content[: len(content) // 2])
            case "stores other bytes":
                return self._target.create(name, content[::-1])
        raise AssertionError(self._way)


WAYS = ["fails", "times out", "stores and fails", "stores nothing", "stores half", "stores other bytes"]


@pytest.mark.parametrize("way", WAYS)
async def test_a_bucket_that_goes_wrong_loses_nothing(store, target, past, way):
    """At the first object, the second and so on, up to the manifest and beyond: no day is dropped that is not there."""
    cell = store.cells[0]
    day = day_of(cell, 20)
    await insert_all_kinds(cell, day, some_id(day.begin))
    there = await rows_in(cell, day.partition)
    untrue = UntrueTarget(target, way, 1_000_000)
    await DayArchiver(store, untrue, KEPT, EXPIRY).once()
    for wrong_calls in (1_000_000, 3, 2, 1):
        untrue.left = wrong_calls
        archiver = DayArchiver(store, untrue, KEPT, EXPIRY)  # one that has failed is not waited for in its next round
        await archiver.once()
        untrue.left = 1_000_000
        await DayDropper(store, KEPT, HELD, archiver).once()
        known = await known_day(cell, day)
        assert await has_table(cell, day) or known["state"] == "ARCHIVED"
        if await has_table(cell, day):
            assert await rows_in(cell, day.partition) == there
    untrue.left = 0
    archiver = DayArchiver(store, untrue, KEPT, EXPIRY)
    await archiver.once()
    await DayDropper(store, KEPT, HELD, archiver).once()
    assert not await has_table(cell, day)
    assert await archived_rows(target, cell, day) == there


async def test_a_round_that_was_killed_while_it_deleted_a_day_is_completed(store, archiver, folder_target, monkeypatch):
    """As long as a manifest is there, so are its files."""
    cell = store.cells[0]
    day = day_of(cell, 20)
    for _ in range(4):
        await insert_all_kinds(cell, day, some_id(day.begin))
    await archive_all(archiver)
    await DayDropper(store, KEPT, HELD, archiver).once()
    known = await known_day(cell, day)
    folder = DayFolder(day.day, known["archive_id"])
    delete, deleted = folder_target.delete, []

    def die_after_one(name):
        if not name.startswith(folder.prefix):
            return delete(name)
        if deleted:
            raise ConnectionResetError("killed")
        deleted.append(name)
        return delete(name)

    objects = len(folder_target.listing(folder.prefix))
    assert objects == 9
    for left in reversed(range(objects)):
        with monkeypatch.context() as killed:
            deleted.clear()
            killed.setattr(folder_target, "delete", die_after_one)
            await DayArchiver(store, folder_target, KEPT, timedelta(0)).once()
        assert len(folder_target.listing(folder.prefix)) == left
        assert day_reader.newest_manifest(folder_target, folder) is None, "the manifest goes first"
    await DayArchiver(store, folder_target, KEPT, timedelta(0)).once()
    assert await known_day(cell, day) is None
