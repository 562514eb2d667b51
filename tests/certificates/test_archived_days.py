"""A day that PostgreSQL has dropped is certified by its archived rows."""

from datetime import timedelta

import pytest

from horae.domain.errors import Conflict, NoLongerKept
from horae.service.certificates import certificates
from horae.store.databases import partitions
from tests.archive.cold_days import drop_days
from tests.certificates.days import KEY
from tests.fire_audit.archived import ArchivedFleet
from tests.fire_audit.fleet import Fleet
from tests.steps import move_clock


async def test_a_dropped_day_has_the_numbers_it_had_before_and_a_changed_file_proves_nothing(ctx, store, tmp_path):
    fleet = Fleet(ctx, store, 40)
    for cell in store.cells:
        async with cell.tx() as tx:  # a row may have ended a day before its fire time
            await partitions.ensure(tx, (fleet.since - timedelta(days=3)).date(), 3)
    await fleet.write()
    day = (fleet.until - timedelta(hours=12)).date()
    await move_clock(store, days=3)
    before = await certificates.make(ctx, KEY, day)
    archived = ArchivedFleet(fleet, tmp_path)
    await archived.write()
    await drop_days(store, ago=2)
    with pytest.raises(NoLongerKept, match="no archive is configured"):
        await certificates.make(ctx, KEY, day, again=True)
    after = await certificates.make(ctx, KEY, day, again=True, archive=archived.target)
    assert after.content.revision == 2
    assert after.content.total == before.content.total
    assert after.content.total.expected > 100
    assert after.content.jobs == before.content.jobs
    assert archived.alter({fleet.jobs[0].id}) == {fleet.jobs[0].id}
    with pytest.raises(Conflict, match="proves nothing"):
        await certificates.make(ctx, KEY, day, again=True, archive=archived.target)
