"""The command line reads the archive that the settings name."""

import asyncio
import random

from horae.archive.object_store import open_target
from horae.boot.archive import archive_reader_of
from horae.domain.ids import Prefix, public
from horae.runtime.settings import Settings
from horae.service.context import Context
from horae.upkeep.archive import DayArchiver
from tests.archive.cold_days import archive_days, drop_days, some_rows
from tests.archive.conftest import EXPIRY, KEPT
from tests.archive.history import make_days
from tests.steps import a_job


def test_without_an_archive_nothing_is_opened():
    assert archive_reader_of(Settings(environment="test")) is None


async def test_lists_and_shows_what_is_only_in_the_archive(horae, store, tenant, tmp_path, monkeypatch):
    settings = Settings(archive=f"file://{tmp_path}/archive", environment="test")
    ctx = Context.of(store, tenant, "test")
    await make_days(store, 10)
    job = await a_job(ctx, "nightly")
    cell, dice = store.cell(job.shard), random.Random(1)
    [id_] = await some_rows(cell, tenant.id, job.id, 6, 1, dice, keyed=False, shard=job.shard)
    await archive_days(DayArchiver(store, open_target(settings), KEPT, EXPIRY))
    await drop_days(store, 4)
    monkeypatch.setenv("HORAE_ARCHIVE", settings.archive)
    monkeypatch.setenv("HORAE_TENANT", tenant.name)
    name = public(Prefix.INSTANCE, id_)
    assert [one["id"] for one in await asyncio.to_thread(horae.json, "instance", "list")] == [name]
    shown = await asyncio.to_thread(horae.json, "instance", "show", name)
    assert (shown["id"], shown["archive"]["days"]) == (name, 1)
