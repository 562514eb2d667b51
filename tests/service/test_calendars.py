"""F4: whoever changes a calendar drops no fire that has come due already: each leaves a row."""

from datetime import date, timedelta

import pytest

from horae.domain.calendars import Calendar, Rule
from horae.domain.schedule import Misfire, OnMisfire, Policies
from horae.domain.triggers import cron
from horae.service import calendars
from tests.steps import Looker, a_job, amid, move_clock, query

EVERY_DAY = frozenset(range(1, 8))
ROWS = "select fire_time from instance_live union all select fire_time from instance_history order by 1"


def days(*removed: date) -> Calendar:
    return Calendar(
        name="days", first=date(2020, 1, 1), last=date(2040, 12, 31), weekdays=EVERY_DAY, removed={*removed}
    )


@pytest.mark.parametrize("put", [False, True], ids=["nobody touches it", "it is put"])
async def test_fires_that_came_due_while_no_node_ran_leave_rows_whatever_happens_to_their_calendar(ctx, store, put):
    await amid(store, 86400)
    await calendars.put(ctx, days())
    policies = Policies(calendars=(Rule("days"),), misfire=Misfire(OnMisfire.ALL))
    job = await a_job(ctx, "every-minute", cron("* * * * *"), policies=policies)
    await move_clock(store, minutes=5)
    if put:
        assert await calendars.put(ctx, days(date(2030, 1, 1))) == [], "a holiday years ahead moves no cursor"
    for cell in store.cells:
        await Looker(store, cell).once()
    due = [job.next_fire_at + timedelta(minutes=n) for n in range(5)]
    assert [row["fire_time"] for row in await query(store, ROWS)] == due
