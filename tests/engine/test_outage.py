"""All nodes down for ten minutes: every fire that fell into it has exactly one verdict, by its job's own policy."""

from collections import Counter
from datetime import timedelta

from horae.domain.jobs.jobs import Definition
from horae.domain.schedules import Misfire, OnMisfire, Policies
from horae.domain.schedules.misfire import ON_TIME_TOLERANCE_S
from horae.domain.schedules.triggers import IntervalTrigger, cron
from horae.domain.targets.targets import QueueTarget
from tests.bulk import bulk_jobs
from tests.engine.running import running
from tests.steps import move_clock, query, until

OUTAGE = 600
QUEUE = QueueTarget("work")  # what runs is recorded, and waits for a worker
KINDS = {
    "skip": (Misfire(OnMisfire.SKIP), 1, 40),
    "once": (Misfire(OnMisfire.ONCE), 1, 40),
    "once-bounded": (Misfire(OnMisfire.ONCE, max_lateness=90), 2, 20),
    "capped": (Misfire(OnMisfire.ALL, cap=7), 1, 40),
    "bounded": (Misfire(OnMisfire.ALL, max_lateness=120), 1, 20),
    "all": (Misfire(OnMisfire.ALL), 10, 200),
    "cron-skip": (Misfire(OnMisfire.SKIP), 60, 40),
    "cron-all": (Misfire(OnMisfire.ALL), 60, 40),
}
"""Policy, seconds between two fires, and how many such jobs make a hundred thousand fires together."""
ROWS = """
    select j.name, max(r.told_at) as told_at, r.verdict, sum(r.fires)::int as fires, sum(r.records)::int as records
    from job j join (
        select job_id, changed_at as told_at, 'RUN' as verdict, 1 as fires, 1 as records from instance_live
        union all
        select job_id, ended_at, reason, coalesce(range_count, 1), 1 from instance_history) r on r.job_id = j.id
    group by j.name, r.verdict"""


def verdicts(misfire, period, start, now):
    """How many fires of a job run, and how many are skipped for which reason, by the definitions alone.

    A fire at most a minute late is on time. Of the missed ones those above `max_lateness` are too late; of the rest
    `skip` runs none, `once` one, `all` the newest up to its cap.
    """
    late = [(now - start).total_seconds() - n * period for n in range(OUTAGE // period)]
    missed = [seconds for seconds in late if seconds > ON_TIME_TOLERANCE_S]
    worth = [seconds for seconds in missed if misfire.max_lateness is None or seconds <= misfire.max_lateness]
    most = {OnMisfire.SKIP: 0, OnMisfire.ONCE: 1, OnMisfire.ALL: misfire.cap or 1000}[misfire.policy]
    left_out = "OVER_CAP" if misfire.policy is OnMisfire.ALL else "MISFIRE"
    made_up = min(most, len(worth))
    found = {"RUN": len(late) - len(missed) + made_up, "TOO_LATE": len(missed) - len(worth)}
    return Counter({**found, left_out: len(worth) - made_up})


async def test_a_hundred_thousand_fires_of_an_outage_have_one_verdict_each(ctx, store):
    now = store.cells[0].clock.now()
    start = now.replace(second=0, microsecond=0) + timedelta(minutes=1)
    end = start + timedelta(seconds=OUTAGE)
    for kind, (misfire, period, many) in KINDS.items():
        trigger = cron("* * * * *") if kind.startswith("cron") else IntervalTrigger(period, start)
        made = Definition(trigger=trigger, target=QUEUE, policies=Policies(misfire=misfire, end=end))
        await bulk_jobs(ctx, store, many, made, start, kind)
    await move_clock(store, seconds=(end - now).total_seconds() + 0.5)
    back = store.cells[0].clock.now()
    async with running(store):
        await until(lambda: _all_over(store), 60)
    found, told_at = {}, {}
    for row in await query(store, ROWS):
        found.setdefault(row["name"], Counter())[row["verdict"]] = row["fires"]
        told_at[row["name"]] = row["told_at"]
    assert len(found) == sum(many for _, _, many in KINDS.values())
    for name, got in found.items():
        misfire, period, _ = KINDS[name.rpartition("-")[0]]
        assert got.total() == OUTAGE // period, "one verdict for each"
        asked = [back + timedelta(seconds=n / 4) for n in range(int((told_at[name] - back).total_seconds() * 4) + 2)]
        assert got in [+verdicts(misfire, period, start, at) for at in asked], name
    assert sum(got.total() for got in found.values()) >= 100_000


async def _all_over(store):
    return not await query(store, "select from job_cursor where next_fire_at is not null limit 1")
