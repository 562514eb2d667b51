"""What became of the fire of a job at a time: `horae why JOB --at 02:00`."""

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from horae.domain.cron import Gap
from horae.domain.errors import Invalid, NotFound
from horae.domain.explanations.sentences import sentence
from horae.domain.explanations.words import Language
from horae.domain.ids import Prefix, public
from horae.domain.instances.outcomes import ErrorCode, Retryable, Success, Unrecoverable
from horae.domain.instances.retries import RetryPolicy
from horae.domain.schedules import Misfire, OnMisfire, Policies, Spread
from horae.domain.schedules.backfills import BackfillMode
from horae.domain.schedules.calendars import Calendar, CalendarMode, CalendarUse
from horae.domain.schedules.triggers import RollingTrigger, cron
from horae.engine.backfills import Backfiller
from horae.engine.rolling import Roller
from horae.engine.territory import Territory
from horae.repositories.settle import AttemptOutcome, Settler
from horae.service.explanations import explanations
from horae.service.instances import replays
from horae.service.jobs import jobs
from horae.service.rolling import subjects
from horae.service.schedules import backfills, calendars, schedules
from horae.service.schedules.backfills import BackfillRequest
from horae.store.instances.instances import Attempt
from horae.upkeep.copies import Copier
from tests.steps import Looker, a_job, a_type, amid, claim, claim_everywhere, move_clock, query, settle

DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)
NO = Unrecoverable(ErrorCode.HTTP_4XX, "404")
ALL = Policies(misfire=Misfire(OnMisfire.ALL))


async def codes(ctx, at, ref="job"):
    """The codes of a fire's explanation, without what is said of its place."""
    found = (await explanations.explain(ctx, ref, str(at))).findings
    return [one.code for one in found if one.code not in {"NOT_LEASED", "NEXT_FIRE"}]


async def finding(ctx, at, code, ref="job"):
    [one] = [one for one in (await explanations.explain(ctx, ref, str(at))).findings if one.code == code]
    assert one.rows
    assert sentence(one, Language.ZH)
    return one


async def fire(store):
    """Let every cell look once and fire what is due; nothing is sent."""
    for cell in store.cells:
        await Looker(store, cell).once()


async def on_time(ctx, store, job):
    """Let the next fire of a job be made at its time. Returns that time."""
    at = (await jobs.find(ctx, job.name)).next_fire_at
    await move_clock(store, seconds=(at - ctx.now(job.shard)).total_seconds())
    await fire(store)
    return at


async def test_a_time_before_the_job_and_a_time_without_a_fire_are_said_to_be_so(ctx, store):
    job = await a_job(ctx, trigger=cron("0 2 * * *", zone_name="Asia/Shanghai"))
    before = await finding(ctx, ctx.now(job.shard) - DAY, "BEFORE_CREATION")
    assert before.facts["created_at"] <= ctx.now(job.shard)
    asked = (job.next_fire_at + MINUTE).isoformat()
    other = await finding(ctx, asked, "NOT_A_FIRE")
    assert (other.facts["zone"], other.facts["asked"][-8:], other.facts["nearest"][-8:]) == (
        "Asia/Shanghai",
        "02:01:00",
        "02:00:00",
    )
    assert (await explanations.explain(ctx, "job", asked)).fire_time == job.next_fire_at
    await on_time(ctx, store, job)
    [ran] = await claim_everywhere(store)
    await settle(store, ran, Success())
    found = await explanations.explain(ctx, "job", "02:00")
    assert (found.kind, found.fire_time) == ("fire", job.next_fire_at)
    assert [one.code for one in found.findings] == ["SUCCEEDED"]


async def test_only_a_job_with_a_schedule_has_fires_to_ask_for(ctx):
    await a_type(ctx, "T")
    job = await a_job(ctx)
    for ref, at in (("T", "02:00"), ("T/key", "02:00"), ("job", "25:00"), ("ins_01hv3zq5k8e9r7t2m4n6p8s0v1", "02:00")):
        with pytest.raises(Invalid):
            await explanations.explain(ctx, ref, at)
    with pytest.raises(NotFound):
        await explanations.explain(ctx, "nothing", "02:00")
    assert await codes(ctx, job.next_fire_at) == ["TO_COME"]


async def test_a_fire_to_come_is_moved_skipped_spread_or_closed(ctx, store):
    await amid(store, 86_400)  # no day begins meanwhile
    job = await a_job(ctx, trigger=cron("0 0 * * *"))
    first = job.next_fire_at
    await schedules.move(ctx, "job", first, first + MINUTE)
    await schedules.skip(ctx, "job", first + DAY)
    assert await codes(ctx, first) == ["MOVED", "TO_COME"]
    assert (await finding(ctx, first + MINUTE, "TO_COME")).facts == {"fire_time": first, "due_at": first + MINUTE}
    assert (await finding(ctx, first + DAY, "TO_BE_SKIPPED")).facts["reason"] == "REQUESTED"
    day = (first + DAY).date()
    await calendars.put(ctx, Calendar(name="closed", first=day, last=day + 30 * DAY, added=frozenset({day})))
    await Copier(store).once()
    use = CalendarUse("closed", CalendarMode.EXCLUDE)
    policies = Policies(calendars=(use,), spread=Spread(window=600), end=first + 3 * DAY)
    await a_job(ctx, "other", trigger=cron("0 0 * * *"), policies=policies)
    assert await codes(ctx, first + 2 * DAY, "other") == ["SPREAD", "TO_COME"]
    closed = await finding(ctx, first + DAY, "TO_BE_SKIPPED", "other")
    assert (closed.facts["reason"], closed.facts["calendars"]) == ("CALENDAR", ["closed"])
    assert [(one.kind, one.ref) for one in closed.rows][1:] == [("calendar", "closed")]
    assert await codes(ctx, first + 5 * DAY, "other") == ["ENDED"]


async def test_a_fire_that_ran_late_says_why(ctx, store):
    job = await a_job(ctx, trigger=cron("*/10 * * * *"), policies=ALL)
    await move_clock(store, seconds=(job.next_fire_at - ctx.now(job.shard)).total_seconds() + 300)
    await fire(store)
    [ran] = await claim_everywhere(store)
    outcome = AttemptOutcome(ran, None, Success(), Attempt(attempt=1, status=200, duration_ms=5), delay_ms=20_000)
    await Settler(store.cell(job.shard)).settle([outcome])
    await query(store, "update instance_history set held_ms = 7000")
    assert await codes(ctx, job.next_fire_at) == ["SUCCEEDED", "CREATED_LATE", "WAS_HELD", "STARTED_LATE"]
    late = await finding(ctx, job.next_fire_at, "CREATED_LATE")
    assert 299 <= late.facts["late_s"] <= 310
    assert (await finding(ctx, job.next_fire_at, "WAS_HELD")).facts["held_s"] == 7
    waited = await finding(ctx, job.next_fire_at, "STARTED_LATE")
    assert waited.facts["wait_s"] == 20


async def test_skipped_fires_are_told_by_the_row_of_their_range(ctx, store):
    job = await a_job(ctx, trigger=cron("* * * * *"), policies=Policies(misfire=Misfire(OnMisfire.SKIP)))
    first = job.next_fire_at
    await move_clock(store, hours=1)
    await fire(store)
    skipped = await finding(ctx, first + 20 * MINUTE, "SKIPPED")
    assert (skipped.facts["reason"], skipped.facts["fire_time"]) == ("MISFIRE", first)
    assert skipped.facts["range_to"] >= first + 20 * MINUTE
    assert "the row stands for" in sentence(skipped, Language.EN)


async def test_a_pause_is_told_while_it_lasts_and_afterwards(ctx, store):
    job = await a_job(ctx, trigger=cron("*/10 * * * *"))
    await jobs.pause(ctx, "job")
    await move_clock(store, minutes=30)
    assert await codes(ctx, job.next_fire_at) == ["PAUSED"]
    await jobs.resume(ctx, "job")
    assert (await finding(ctx, job.next_fire_at, "SKIPPED")).facts["reason"] == "PAUSED"


async def test_a_day_that_the_clocks_jump_over_is_told(ctx):
    trigger = replace(cron("30 2 * * *", zone_name="America/New_York"), dst_gap=Gap.SKIP)
    jump = datetime(ctx.now().year + 1, 3, 8, 7, tzinfo=UTC)
    jump += timedelta(days=(6 - jump.weekday()) % 7)  # the second Sunday of March
    await a_job(ctx, trigger=trigger)
    assert (await finding(ctx, jump, "TO_BE_SKIPPED")).facts["reason"] == "DST_GAP"


async def test_the_version_that_was_in_force_decides(ctx, store):
    job = await a_job(ctx, trigger=cron("*/10 * * * *"), policies=ALL)
    at = await on_time(ctx, store, job)
    await move_clock(store, minutes=1)
    now = await jobs.find(ctx, "job")
    await schedules.update(ctx, "job", replace(now.definition, trigger=cron("5 0 1 1 *")))
    assert await codes(ctx, at) == ["EARLIER_VERSION", "WAITS_FOR_NODE"]
    earlier = await finding(ctx, at, "EARLIER_VERSION")
    assert (earlier.facts["version"], earlier.facts["current"]) == (1, 2)
    assert [one.ref for one in earlier.rows] == [f"{public(Prefix.JOB, job.id)}@1"]
    await move_clock(store, minutes=30)
    assert await codes(ctx, at + 20 * MINUTE) == ["NOT_A_FIRE", "TO_COME"], "the new version owes no fire there"


async def test_a_missing_fire_is_called_missing_and_one_not_reached_overdue(ctx, store):
    job = await a_job(ctx, trigger=cron("*/10 * * * *"), policies=ALL)
    at = await on_time(ctx, store, job)
    await query(store, "delete from instance_live")
    missing = await finding(ctx, at, "MISSING")
    assert "horae audit fires" in sentence(missing, Language.EN)
    await move_clock(store, minutes=15)
    assert await codes(ctx, at + 10 * MINUTE) == ["OVERDUE"]


async def test_a_fire_that_ran_twice_says_which_attempts_replays_and_backfills_there_were(ctx, store):
    job = await a_job(ctx, trigger=cron("*/10 * * * *"), policies=ALL, retry=RetryPolicy(max_failures=2))
    at = await on_time(ctx, store, job)
    [ran] = await claim_everywhere(store)
    note = Attempt(attempt=1, code="TIMEOUT")
    lost = AttemptOutcome(ran, None, Retryable(ErrorCode.TIMEOUT, "no answer"), note)
    await Settler(store.cell(job.shard)).settle([lost])
    await move_clock(store, minutes=1)
    [again] = [ran for cell in store.cells for ran in await claim(cell, store, lane=1)]
    await settle(store, again, NO)
    assert await codes(ctx, at) == ["ATTEMPTS_FAILED", "DEAD_LETTER", "CALLED_AGAIN"]
    sent = await finding(ctx, at, "CALLED_AGAIN")
    assert (sent.facts["attempt"], sent.facts["idempotency_key"]) == (2, ran.idem_key)
    await replays.replay(ctx, ran.id)
    [replayed] = await claim_everywhere(store)
    await settle(store, replayed, Success())
    told = await finding(ctx, at, "REPLAYED")
    assert told.facts["instance"] == public(Prefix.INSTANCE, replayed.id)
    await backfills.start(ctx, "job", "k", BackfillRequest(at, at + MINUTE, mode=BackfillMode.ALL))
    for cell in store.cells:
        await Backfiller(cell, Territory(store.shards_of(cell)), lambda _timer: None).once()
    assert "RUN_AGAIN" in await codes(ctx, at)
    found = await codes(ctx, at)
    assert (found.count("SUCCEEDED"), found.count("DEAD_LETTER")) == (1, 1)


async def test_a_subject_of_a_rolling_set_is_explained(ctx, store):
    anchor = store.cells[0].clock.now().replace(microsecond=0) - timedelta(seconds=1)
    made = await a_job(ctx, "STOCK", RollingTrigger(window=600, every=60, anchor=anchor, budget=5), width=16)
    await Copier(store).once()
    await subjects.add(ctx, made, ["p-1", "p-17"], at_once=True)
    with pytest.raises(NotFound):
        await explanations.explain(ctx, "STOCK/p")

    async def told(key):
        found = await explanations.explain(ctx, f"STOCK/{key}")
        assert (found.kind, found.subject) == ("subject", f"STOCK/{key}")
        return [one.code for one in found.findings if one.code != "NOT_LEASED"]

    assert await told("p-1") == ["SUBJECT_DUE", "SUBJECT_NEVER_REFRESHED"]
    for cell in store.cells:
        await Roller(cell, Territory(store.shards_of(cell)), lambda _timer: None).run_all()
    assert (await told("p-17"))[:2] == ["SUBJECT_OCCUPIED", "SUBJECT_NEVER_REFRESHED"]
    await query(store, "update instance_live set due_at = least(due_at, $1)", store.cells[0].clock.now())
    for ran in await claim_everywhere(store):
        await settle(store, ran, Success() if ran.business_key == "p-1" else NO)
    for cell in store.cells:
        await Roller(cell, Territory(store.shards_of(cell)), lambda _timer: None).run_all()
    assert await told("p-1") == ["SUBJECT_WAITS", "SUBJECT_REFRESHED", "SUCCEEDED"]
    assert (await told("p-17"))[:3] == ["SUBJECT_WAITS", "SUBJECT_FAILED", "SUBJECT_NEVER_REFRESHED"]
