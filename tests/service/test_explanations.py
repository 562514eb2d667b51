"""Why something has not run: each finding against real rows."""

from datetime import timedelta

import msgspec
import pytest

from horae.domain.errors import NotFound
from horae.domain.explanations.sentences import sentence
from horae.domain.explanations.words import Language
from horae.domain.ids import Prefix, public
from horae.domain.instances.outcomes import ErrorCode, Retryable, Success, Unrecoverable
from horae.domain.limits.hold_reasons import HoldReason
from horae.domain.limits.holds import GateKind, GateName, HeldLane, Hold
from horae.domain.schedules import OnOverlap, Policies
from horae.domain.schedules.calendars import Calendar, CalendarMode, CalendarUse
from horae.domain.schedules.triggers import ManualTrigger, OnceTrigger, cron
from horae.domain.targets.targets import QueueTarget
from horae.domain.workers.queue_workers import PollOrigin, QueueWorker
from horae.repositories.settle import AttemptOutcome, Settler
from horae.runtime.randomness import new_token
from horae.service.context import PlatformContext
from horae.service.explanations import explanations
from horae.service.instances import instances
from horae.service.jobs import jobs
from horae.service.schedules import calendars
from horae.service.tasks import tasks
from horae.service.tenants import lifecycle
from horae.store.databases import clock
from horae.store.instances.instances import Attempt
from horae.store.limits import holds
from horae.store.nodes import leases
from horae.store.workers import queue_workers
from horae.upkeep.copies import Copier
from tests.steps import NOWHERE, Looker, a_job, a_type, claim_everywhere, every, move_clock, settle

HOUR = timedelta(hours=1)
BUSY = Retryable(ErrorCode.HTTP_5XX, "503")
NO = Unrecoverable(ErrorCode.HTTP_4XX, "404")


async def codes(ctx, ref="job"):
    """The codes of an explanation, in its order."""
    return [one.code for one in (await explanations.explain(ctx, ref)).findings]


async def finding(ctx, ref, code):
    """The only finding with this code."""
    [found] = [one for one in (await explanations.explain(ctx, ref)).findings if one.code == code]
    return found


async def text(ctx, ref, code):
    """The English sentence of the only finding with this code."""
    return sentence(await finding(ctx, ref, code), Language.EN)


async def triggered(ctx, name="job", key="k"):
    return public(Prefix.INSTANCE, (await instances.trigger(ctx, name, key, even_if_down=True)).instance_id)


async def fire(store):
    """Let every cell look once and fire what is due; nothing is sent."""
    for cell in store.cells:
        await Looker(store, cell).once()


async def lease(store, shard, name="node-1"):
    """Let a living node own a shard."""
    node = new_token()
    async with store.cell(shard).tx() as tx:
        await leases.heartbeat(tx, node, name, HOUR)
        await leases.take(tx, node, [shard])
    await store.cell(shard).sync_clock()


async def test_what_does_not_exist_is_not_found(ctx):
    for ref in ("nothing", "nothing/key", "ins_01hv3zq5k8e9r7t2m4n6p8s0v1", "job_01hv3zq5k8e9r7t2m4n6p8s0v1"):
        with pytest.raises(NotFound):
            await explanations.explain(ctx, ref)
    await a_type(ctx, "T")
    with pytest.raises(NotFound, match="T/key has never been scheduled"):
        await explanations.explain(ctx, "T/key")


async def test_a_job_that_waits_for_its_time_says_when_it_fires_and_which_node_will_do_it(ctx, store):
    job = await a_job(ctx)
    assert await codes(ctx) == ["NOT_LEASED", "NEXT_FIRE"]
    assert "no node leases shard" in await text(ctx, "job", "NOT_LEASED")
    await lease(store, job.shard)
    assert await codes(ctx, public(Prefix.JOB, job.id)) == ["LEASED", "NEXT_FIRE"]
    leased = await finding(ctx, "job", "LEASED")
    assert (leased.facts["node"], leased.facts["shard"]) == ("node-1", job.shard)
    assert leased.facts["until"] > ctx.now(job.shard)
    assert (await finding(ctx, "job", "NEXT_FIRE")).facts["next_fire_at"] == job.next_fire_at
    await move_clock(store, hours=2)
    assert await codes(ctx) == ["NOT_LEASED", "OVERDUE"]
    assert "node node-1 leased it until" in await text(ctx, "job", "NOT_LEASED")


async def test_a_job_that_is_not_active_says_so(ctx, store):
    await a_job(ctx)
    await jobs.pause(ctx, "job")
    assert (await codes(ctx))[0] == "PAUSED"
    assert "horae job resume job" in await text(ctx, "job", "PAUSED")
    await a_job(ctx, "shadow", labels={"horae.shadow": "true"})
    await jobs.pause(ctx, "shadow")
    assert "is a shadow" in await text(ctx, "shadow", "SHADOW")
    removed = await jobs.remove(ctx, "job")
    assert (await codes(ctx, public(Prefix.JOB, removed.id)))[0] == "REMOVED"
    await a_job(ctx, "last", trigger=every(ctx, 1, "last"), policies=Policies(max_count=1))
    await move_clock(store, seconds=5)
    await fire(store)
    assert (await codes(ctx, "last"))[0] == "COMPLETED"


async def test_a_job_outside_of_its_dates_says_when_they_are(ctx):
    now = ctx.now()
    start = await a_job(ctx, "later", policies=Policies(start=now + HOUR))
    assert (await finding(ctx, "later", "NOT_STARTED")).facts["start"] == start.definition.policies.start
    await a_job(ctx, "over", policies=Policies(end=now + HOUR))
    await move_clock(ctx.store, hours=2)
    assert "ENDED" in await codes(ctx, "over")


async def test_jobs_without_fires_of_their_own_say_what_starts_them(ctx):
    await a_type(ctx, "T")
    await a_job(ctx, "by-hand", trigger=ManualTrigger())
    assert "horae why T/KEY" in await text(ctx, "T", "TASK_TYPE")
    assert "horae job trigger by-hand" in await text(ctx, "by-hand", "MANUAL_ONLY")


async def test_days_that_a_calendar_excludes_are_named(ctx, store):
    today = ctx.now().date()
    days = [today + timedelta(days=n) for n in range(3)]
    await calendars.put(
        ctx, Calendar(name="closed", first=days[0], last=days[-1] + timedelta(days=30), added=frozenset(days))
    )
    await Copier(store).once()
    use = CalendarUse("closed", CalendarMode.EXCLUDE)
    await a_job(ctx, trigger=cron("* * * * *"), policies=Policies(calendars=(use,)))
    await move_clock(store, minutes=3)
    await fire(store)
    skipped = await finding(ctx, "job", "SKIPPED")
    assert skipped.facts["reasons"] == ["CALENDAR"]
    assert "a calendar of the job excludes that day (closed)" in sentence(skipped, Language.EN)
    assert [(one.kind, one.ref) for one in skipped.rows][1:] == [("calendar", "closed")]


async def test_a_paused_tenant_and_an_untrusted_clock_stop_everything(ctx, store):
    job = await a_job(ctx)
    await lifecycle.pause(PlatformContext(store, "test"), ctx.tenant.name)
    await Copier(store).once()
    assert (await finding(ctx, "job", "TENANT_HELD")).facts["status"] == "PAUSED"
    cell = store.cell(job.shard)
    async with cell.statement() as tx:
        await clock.doubt(tx, HOUR)
    await cell.sync_clock()
    untrusted = await finding(ctx, "job", "CLOCK_UNTRUSTED")
    assert (untrusted.facts["cell"], round(untrusted.facts["ahead_s"])) == (cell.name, 3600)
    assert f"horae cell trust-clock {cell.name}" in sentence(untrusted, Language.EN)


async def test_what_is_due_waits_for_its_node_or_is_held_at_a_gate(ctx, store):
    job = await a_job(ctx)
    ref = await triggered(ctx)
    assert "WAITS_FOR_NODE" in await codes(ctx)
    assert await codes(ctx, ref) == ["NOT_LEASED", "WAITS_FOR_NODE"]
    gate = GateName(GateKind.TARGET, NOWHERE.url)
    now = ctx.now(job.shard)
    hold = Hold(
        tenant_id=ctx.tenant.id,
        gate=gate,
        lane=HeldLane.ANY,
        reason=HoldReason.BREAKER,
        since=now,
        waiting=1,
        next_try_at=now + HOUR,
    )
    node = new_token()
    async with store.cell(job.shard).tx() as tx:
        await leases.heartbeat(tx, node, "node-1", HOUR)
        await holds.write(tx, node, [], [hold])
    held = await finding(ctx, ref, "HELD")
    said = sentence(held, Language.EN)
    assert f"the circuit breaker of the target is open after failed calls ({NOWHERE.url}); the next call" in said
    assert (held.facts["reason"], held.facts["waiting"]) == ("BREAKER", 1)


async def test_a_fire_that_waits_for_the_one_before_names_it(ctx, store):
    await a_job(ctx, trigger=every(ctx, 60), policies=Policies(overlap=OnOverlap.QUEUE_ONE))
    first = await triggered(ctx)
    [_] = await claim_everywhere(store)
    second = await triggered(ctx, key="2")
    overlap = await finding(ctx, second, "OVERLAP")
    assert (overlap.facts["waits_for"], overlap.facts["overlap"]) == (first, "queue_one")
    assert f"{first} of the fire at" in sentence(overlap, Language.EN)
    assert {"OVERLAP", "RUNNING"} <= set(await codes(ctx))


async def test_work_of_a_queue_says_whether_anybody_polls_it(ctx, store):
    await a_job(ctx, target=QueueTarget("slow"))
    ref = await triggered(ctx)
    assert "nobody polls the queue slow" in await text(ctx, ref, "NO_WORKER")
    now = ctx.now()
    worker = QueueWorker(ctx.tenant.id, "slow", "w-1", now, now, 1, PollOrigin(), "api-1")
    for cell in store.cells:
        async with cell.tx() as tx:
            await queue_workers.write(tx, "api-1", [worker])
    assert (await finding(ctx, ref, "WAITS_FOR_WORKER")).facts["polling"] == 1


async def test_failed_attempts_a_retry_and_a_dead_letter_are_told_with_their_codes(ctx, store):
    await a_job(ctx)
    ref = await triggered(ctx)
    [ran] = await claim_everywhere(store)
    assert "RUNNING" in await codes(ctx, ref)
    note = Attempt(attempt=1, status=503, code="HTTP_5XX")
    await Settler(store.cell(ran.shard)).settle([AttemptOutcome(ran, None, BUSY, note)])
    assert [one for one in await codes(ctx, ref) if one != "NOT_LEASED"] == ["ATTEMPTS_FAILED", "RETRY_DUE"]
    assert "attempt 1 with HTTP_5XX (status 503)" in await text(ctx, ref, "ATTEMPTS_FAILED")
    assert "is tried again at" in await text(ctx, ref, "RETRY_DUE")
    other = await triggered(ctx, key="2")
    [ran] = await claim_everywhere(store)
    await settle(store, ran, NO)
    dead = await finding(ctx, other, "DEAD_LETTER")
    assert (dead.facts["error_code"], dead.facts["dead_letter"]) == ("HTTP_4XX", "NEW")
    assert f"horae dead-letter replay {other}" in sentence(dead, Language.EN)
    assert "DEAD_LETTER" in await codes(ctx), "the last fire of the job"


async def test_a_task_is_explained_by_its_decision_and_its_instance(ctx, store):
    await a_type(ctx, "T")
    await Copier(store).once()
    now = ctx.now()
    await tasks.schedule(ctx, "T", "a/b", at=now + HOUR)
    await tasks.schedule(ctx, "T", "a/b", at=now + 2 * HOUR)
    found = await explanations.explain(ctx, "T/a/b")
    assert (found.kind, found.subject) == ("task", "T/a/b")
    assert [one.code for one in found.findings] == ["NOT_LEASED", "DECIDED", "NOT_DUE"]
    assert "was moved, made at" in sentence(found.findings[1], Language.EN)
    await tasks.cancel(ctx, "T", "a/b")
    assert "CANCELLED" in await codes(ctx, "T/a/b")


async def test_what_ran_says_when(ctx, store):
    await a_job(ctx, trigger=OnceTrigger(ctx.now() - HOUR))
    [ran] = await claim_everywhere(store)
    await settle(store, ran, Success())
    done = await finding(ctx, public(Prefix.INSTANCE, ran.id), "SUCCEEDED")
    assert "with attempt 1" in sentence(done, Language.EN)
    assert b'"code":"SUCCEEDED"' in msgspec.json.encode(await explanations.explain(ctx, "job"))
