"""Days that PostgreSQL has dropped are audited from the archive; a changed file of them proves nothing."""

import pytest

from horae.domain.errors import Invalid
from tests.archive.cold_days import drop_days
from tests.fire_audit.archived import ArchivedFleet
from tests.fire_audit.fleet import Fleet
from tests.fire_audit.test_fleet import found_in
from tests.steps import move_clock, query

DELETE = "delete from instance_history where job_id = $1 and fire_time = $2"


async def test_a_dropped_day_is_judged_by_its_archived_rows_and_a_changed_file_is_noticed(ctx, store, tmp_path):
    fleet = Fleet(ctx, store, 60)
    await fleet.write()
    lost = fleet.jobs[0]
    await query(store.cell(lost.shard), DELETE, lost.id, lost.fires[5])
    await move_clock(store, days=3)  # cursors that stand still since then are no matter here
    archived = ArchivedFleet(fleet, tmp_path)
    await archived.write()
    await drop_days(store, ago=2)
    with pytest.raises(Invalid, match="an audit can begin at"):
        await found_in(fleet, store)
    counts, found = await found_in(fleet, store, archived.target)
    assert {job: faults - {"STANDS_STILL"} for job, faults in found.items() if faults - {"STANDS_STILL"}} == {
        lost.id: {"MISSING"}
    }
    assert (counts.expected, counts.missing) == (fleet.fires, 1)
    altered = next(job for job in fleet.jobs if job.id != lost.id)
    assert archived.alter({altered.id}) == {altered.id}
    _, found = await found_in(fleet, store, archived.target)
    assert "ALTERED" in found[altered.id]
