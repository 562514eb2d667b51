"""Three days in which everything happens to schedules that may happen to them. All of it is in order."""

from datetime import date, datetime, timedelta

from msgspec.structs import replace

from horae.domain.schedules.calendars import calendar_of_days
from horae.domain.schedules.triggers import cron
from horae.service.context import PlatformContext
from horae.service.instances import dead_letters, replays
from horae.service.jobs import jobs
from horae.service.schedules import backfills, calendars, schedules
from horae.service.schedules.backfills import BackfillRequest
from horae.service.tenants import lifecycle
from horae.testing import TestServer

BEGIN = "2030-03-29T00:00:00Z"
"""The Friday before clocks in Berlin go forward, on Sunday at 01:00 UTC."""
HOUR = timedelta(hours=1)
TENANT = "test"


def live_through(horae: TestServer) -> datetime:
    """Make the jobs, and let the days pass. Returns when they began."""
    begin, ctx, do = horae.now, horae._world.ctx, horae._do
    platform = PlatformContext(ctx.store, "test")
    _make_jobs(horae)
    horae.advance(hours=13)
    do(jobs.pause(ctx, "paused"))
    noon = begin + timedelta(days=1, hours=12)
    do(schedules.skip(ctx, "moved", noon))
    do(schedules.move(ctx, "moved", noon + 6 * HOUR, noon + 2 * HOUR))
    do(schedules.move(ctx, "moved", noon + 12 * HOUR, noon + 13 * HOUR))
    changed = do(jobs.find(ctx, "changed"))
    do(schedules.update(ctx, "changed", replace(changed.definition, trigger=cron("20 */5 * * *"))))
    horae.advance(hours=9)
    do(jobs.resume(ctx, "paused"))
    do(jobs.resume(ctx, "asleep"))
    do(jobs.remove(ctx, "gone"))
    horae.trigger("plain")
    horae.advance_to(noon + 3 * HOUR)
    do(schedules.label(ctx, "moved", {"changed": "after its fire was moved forward and made"}))
    horae.advance(hours=2)
    _sleep(horae, hours=9)
    horae.advance(hours=4)
    do(lifecycle.pause(platform, TENANT))
    _sleep(horae, hours=7)
    do(lifecycle.resume(platform, TENANT))
    horae.advance(hours=3)
    do(backfills.start(ctx, "none", "once", BackfillRequest(begin, begin + timedelta(days=2))))
    for letter in do(dead_letters.listing(ctx, limit=1)):
        do(replays.replay(ctx, letter.instance_id))
    horae.advance(hours=6)
    return begin


def _make_jobs(horae: TestServer) -> None:
    closed = calendar_of_days("closed", date(2030, 1, 1), date(2030, 12, 31), [date(2030, 3, 30)])
    horae._do(calendars.put(horae._world.ctx, closed))
    berlin = {"kind": "cron", "expression": "30 2 * * *", "zone": "Europe/Berlin"}
    horae.job("plain", cron="0 */4 * * *")
    horae.job("berlin", trigger=berlin)
    horae.job("gap", trigger={**berlin, "dst_gap": "skip"})
    horae.job("interval", trigger={"kind": "interval", "every": 18_000, "anchor": "2030-03-01T00:00:07Z"})
    horae.job("closed", cron="0 */6 * * *", policies={"calendars": [{"calendar": "closed", "mode": "exclude"}]})
    horae.job("spread", cron="0 */6 * * *", policies={"spread": {"window": 600, "jitter": 30}})
    horae.job("bounded", cron="0 */3 * * *", policies={"start": "2030-03-29T07:00:00Z", "end": "2030-03-29T18:00:00Z"})
    horae.job("counted", cron="0 */3 * * *", policies={"max_count": 5})
    horae.job("all", cron="0 */3 * * *", policies={"misfire": {"policy": "all"}})
    horae.job("none", cron="0 */3 * * *", policies={"misfire": {"policy": "skip"}})
    horae.job("alone", cron="0 */8 * * *", policies={"overlap": "forbid"})
    horae.job("fails", cron="15 */12 * * *", retry={"max_failures": 1})
    horae.job("changed", cron="10 */4 * * *")
    horae.job("paused", cron="5 */4 * * *")
    horae.job("moved", cron="0 */6 * * *")
    horae.job("gone", cron="40 */4 * * *")
    horae.job("asleep", cron="25 */4 * * *", paused=True)
    horae.answers["fails"] = lambda call: 404


def _sleep(horae: TestServer, **by: float) -> None:
    """Let time pass while no node looks."""
    horae._world.time += timedelta(**by)
    horae._background.run(horae._world.hold())
