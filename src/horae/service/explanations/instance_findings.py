"""Findings about an instance: what it waits for, who runs it, how it ended, and why it was late or sent again."""

from datetime import datetime
from typing import Final, assert_never

from horae.domain.explanations.findings import DecidingRow, Finding, FindingCode, RowKind
from horae.domain.explanations.fire_times import planned_due
from horae.domain.ids import Prefix, creation_time, public, shard_in
from horae.domain.instances.dead_letters import OPEN
from horae.domain.instances.instances import Lane
from horae.domain.instances.lifecycle import LIVE, State
from horae.domain.instances.searches import InstanceFilter
from horae.domain.jobs.jobs import Job
from horae.domain.limits.hold_reasons import HoldReason
from horae.domain.limits.holds import Hold
from horae.domain.schedules.expected import TIME_RESOLUTION
from horae.domain.schedules.misfire import ON_TIME_TOLERANCE_S
from horae.domain.targets.targets import queue_of
from horae.service.context import Context
from horae.service.explanations.job_findings import skip_finding
from horae.service.explanations.rows import instance_facts, instance_row
from horae.service.instances import searches
from horae.service.limits import holds
from horae.service.workers import queues
from horae.store.instances import dead_letters
from horae.store.instances.history import Bounds, InstanceRecord

MAX_NAMED_ATTEMPTS: Final = 3
"""Attempts that a sentence about failures names at most, newest first."""
LATE_S: Final = 1.0
"""Seconds of lateness that are worth a sentence."""
MAX_TWINS: Final = 5
"""Instances of one fire that are read to see whether another one is a replay."""


async def find_of_instance(ctx: Context, job: Job, past: InstanceRecord) -> list[Finding]:
    """Returns the findings about one instance of a job.

    1. Failed attempts are named before what it waits for now, or how it ended.
    2. Then follows why it was late, and why its target was called more than once.
    """
    failed = failure_finding(past)
    found = await _state_finding(ctx, job, past)
    named = [one for one in (failed, found) if one is not None]
    if past.state == State.SKIPPED:
        return named
    late_s = _created_late_s(await _at_version(ctx, job, past), past)
    is_replay = past.replay_of is not None or (late_s >= LATE_S and await _has_dead_twin(ctx, job, past))
    late = [] if is_replay or past.lane == Lane.BACKFILL else lateness_findings(past, late_s)
    return [*named, *late, *repetition_findings(job, past, is_replay=is_replay)]


async def _state_finding(ctx: Context, job: Job, past: InstanceRecord) -> Finding:
    now = ctx.now(shard_in(past.id))
    match State(past.state):
        case State.INIT | State.FAIL:
            return await _waiting_finding(ctx, job, past, now)
        case State.BLOCKED:
            return await overlap_finding(ctx, job, past)
        case State.RUNNING:
            return running_finding(past)
        case State.DEAD:
            return await dead_letter_finding(ctx, past)
        case State.SKIPPED:
            return skip_finding(past)
        case State.CANCELLED:
            return _finding(FindingCode.CANCELLED, past, changed_at=past.changed_at)
        case State.SUCCESS:
            return _finding(FindingCode.SUCCEEDED, past, changed_at=past.changed_at, attempt=past.attempt)
        case state:
            assert_never(state)


async def _waiting_finding(ctx: Context, job: Job, past: InstanceRecord, now: datetime) -> Finding:
    if past.due_at > now:
        return _finding(FindingCode.RETRY_DUE if past.state == State.FAIL else FindingCode.NOT_DUE, past)
    hold = await holds.of_instance(ctx, past)
    if hold is not None:
        return hold_finding(past, hold)
    queue = queue_of(job.definition.target)
    if queue is not None:
        return await queue_finding(ctx, past, queue)
    return _finding(FindingCode.WAITS_FOR_NODE, past, reason=HoldReason.NO_SLOT.value)


def hold_finding(past: InstanceRecord, hold: Hold) -> Finding:
    """Which gate holds the calls of an instance back."""
    name = hold.gate.display_name
    facts = instance_facts(past, reason=hold.reason.value, gate=name, since=hold.since, waiting=hold.waiting)
    rows = (instance_row(past), DecidingRow(RowKind.HOLD, name))
    return Finding(FindingCode.HELD, facts | {"next_try_at": hold.next_try_at}, rows)


async def queue_finding(ctx: Context, past: InstanceRecord, name: str) -> Finding:
    """Whether a worker polls the queue of an instance."""
    [queue] = await queues.describe(ctx, [name])
    code = FindingCode.NO_WORKER if queue.is_unattended else FindingCode.WAITS_FOR_WORKER
    facts = instance_facts(past, queue=name, polling=queue.polling, claimed=queue.claimed, polled_at=queue.polled_at)
    return Finding(code, facts, (instance_row(past), DecidingRow(RowKind.QUEUE, name)))


async def overlap_finding(ctx: Context, job: Job, past: InstanceRecord) -> Finding:
    """Which fire a blocked instance waits for."""
    live = InstanceFilter(states=tuple(sorted(LIVE - {State.BLOCKED})))
    page = await searches.of_job(ctx, job, live)
    before = [one for one in page.found if one.id != past.id]
    facts, rows = instance_facts(past, overlap=job.definition.policies.overlap.value), [instance_row(past)]
    if before:
        first = before[-1]
        facts |= {
            "waits_for": public(Prefix.INSTANCE, first.id),
            "waits_for_fire_time": first.fire_time,
            "waits_for_state": first.state,
        }
        rows.append(instance_row(first))
    return Finding(FindingCode.OVERLAP, facts, tuple(rows))


def running_finding(past: InstanceRecord) -> Finding:
    """Who runs an instance, and until when the attempt may stay unanswered."""
    ran_by = {"node": past.node, "worker": past.worker_id, "deadline": past.deadline}
    return _finding(FindingCode.RUNNING, past, attempt=past.attempt, changed_at=past.changed_at, **ran_by)


def failure_finding(past: InstanceRecord) -> Finding | None:
    """How the last attempts failed; None where none did. What the target answered is left out."""
    failed = [one for one in past.attempts or () if one.get("code") is not None][-MAX_NAMED_ATTEMPTS:]
    notes = [{"attempt": one["attempt"], "code": one["code"], "status": one.get("status")} for one in reversed(failed)]
    if not notes and past.retry_count and past.error_code is not None:
        notes = [{"attempt": past.attempt, "code": past.error_code, "status": None}]
    return _finding(FindingCode.ATTEMPTS_FAILED, past, attempts=notes) if notes else None


async def dead_letter_finding(ctx: Context, past: InstanceRecord) -> Finding:
    """That an instance was given up, and what became of its dead letter."""
    async with ctx.store.statement(shard_in(past.id)) as tx:
        found = await dead_letters.find(tx, ctx.tenant.id, past.id)
    facts, rows = instance_facts(past, error_code=past.error_code, changed_at=past.changed_at), [instance_row(past)]
    if found is not None:
        name = public(Prefix.INSTANCE, past.id)
        facts |= {"dead_letter": found.status.value, "replay": name if found.status in OPEN else None}
        rows.append(DecidingRow(RowKind.DEAD_LETTER, name))
        if found.replay_id is not None:
            rows.append(DecidingRow(RowKind.INSTANCE, public(Prefix.INSTANCE, found.replay_id)))
    return Finding(FindingCode.DEAD_LETTER, facts, tuple(rows))


def lateness_findings(past: InstanceRecord, created_late_s: float) -> list[Finding]:
    """Returns why the first attempt of an instance began late: its row was created late, it was held, or it waited.

    1. A cursor that is behind creates the row of a fire after its time.
    2. `held_ms` is the time at gates, and `trigger_delay_ms` the time from due to the first attempt without it.
    3. A row that is created within the tolerance of a misfire keeps its due time, and a later one is due at once. So a
       short lateness of the row is a part of the delay, and what is left is the wait for a slot, for a worker, or for
       a measure to end.
    """
    found = []
    if created_late_s >= LATE_S:
        found.append(_finding(FindingCode.CREATED_LATE, past, late_s=created_late_s))
    if past.held_ms >= LATE_S * 1000:
        found.append(_finding(FindingCode.WAS_HELD, past, held_s=past.held_ms / 1000))
    counted_s = created_late_s if created_late_s <= ON_TIME_TOLERANCE_S else 0.0
    waited_s = round((past.trigger_delay_ms or 0) / 1000 - counted_s, 3)
    if waited_s >= LATE_S:
        found.append(_finding(FindingCode.STARTED_LATE, past, wait_s=waited_s))
    return found


def _created_late_s(job: Job, past: InstanceRecord) -> float:
    """Returns how many seconds after it should have been due the row of a fire was created. Its id tells when."""
    if not job.recurring or not _is_of_schedule(past):
        return 0.0
    return max(round((creation_time(past.id) - planned_due(job.schedule({}), past.fire_time)).total_seconds(), 3), 0.0)


def _is_of_schedule(past: InstanceRecord) -> bool:
    """Whether an instance has the key of a fire time. A fire by hand has a letter in its place."""
    return past.idem_key.partition(":")[2][:1].isdigit()


async def _at_version(ctx: Context, job: Job, past: InstanceRecord) -> Job:
    """Returns the job at the version of an instance. Where that cannot be read, the given one has to do."""
    if past.job_version == job.version or not job.recurring:
        return job
    place = (job.shard, job.id, past.job_version)
    known = await ctx.definitions.load_from(ctx.store.cell(job.shard), [place])
    return known.get((job.id, past.job_version), job)


async def _has_dead_twin(ctx: Context, job: Job, past: InstanceRecord) -> bool:
    """Whether an earlier instance of the same fire died: then this one is its replay. Ended rows do not say so."""
    same_fire = InstanceFilter((State.DEAD,), past.fire_time, past.fire_time + TIME_RESOLUTION)
    found = (await searches.of_job(ctx, job, same_fire, bounds=Bounds(MAX_TWINS))).found
    return any(one.idem_key == past.idem_key and one.id < past.id for one in found)


def repetition_findings(job: Job, past: InstanceRecord, *, is_replay: bool) -> list[Finding]:
    """Returns why the target of an instance may have been called more than once, and which kind of instance it is."""
    found, created_at = [], creation_time(past.id)
    if job.recurring and past.lane == Lane.BACKFILL:
        again = past.idem_key.count(":") > 1
        found.append(_finding(FindingCode.RUN_AGAIN if again else FindingCode.BACKFILLED, past, created_at=created_at))
    elif is_replay:
        found.append(_finding(FindingCode.REPLAYED, past, created_at=created_at))
    if past.attempt > 1:
        key = {"attempt": past.attempt, "idempotency_key": past.idem_key}
        found.append(_finding(FindingCode.CALLED_AGAIN, past, **key))
    return found


def _finding(code: FindingCode, past: InstanceRecord, **facts: object) -> Finding:
    return Finding(code, instance_facts(past, **facts), (instance_row(past),))
