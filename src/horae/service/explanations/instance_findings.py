"""Findings about an instance: what it waits for, who runs it, or how it ended."""

from datetime import datetime
from typing import Any, Final, assert_never

from horae.domain.ids import shard_in
from horae.domain.instances.dead_letters import OPEN
from horae.domain.instances.lifecycle import LIVE, State
from horae.domain.instances.searches import InstanceFilter
from horae.domain.jobs.jobs import Job
from horae.domain.limits.hold_reasons import HoldReason
from horae.domain.limits.holds import Hold
from horae.domain.targets.targets import queue_of
from horae.service.context import Context
from horae.service.explanations.findings import Finding, FindingCode, instance_id, utc
from horae.service.explanations.job_findings import skip_reason
from horae.service.instances import searches
from horae.service.limits import holds
from horae.service.workers import queues
from horae.store.instances import dead_letters
from horae.store.instances.history import InstanceRecord

MAX_NAMED_ATTEMPTS: Final = 3
"""Attempts that a sentence about failures names at most, newest first."""
HOLD_REASONS: Final = {
    HoldReason.BREAKER: "the circuit breaker of {name} is open",
    HoldReason.NO_ANSWER: "{name} does not answer",
    HoldReason.RETRY_BUDGET: "the retry budget of {name} is spent",
    HoldReason.TARGET_CAP: "{name} has as many calls as it can take",
    HoldReason.CONCURRENCY: "the concurrency limit {name} is reached",
    HoldReason.RATE: "the rate limit {name} is reached",
}


async def find_of_instance(ctx: Context, job: Job, past: InstanceRecord) -> list[Finding]:
    """Returns the findings about one instance of a job. A failed attempt is named before what it waits for now."""
    failed = failure_finding(past)
    found = await _state_finding(ctx, job, past)
    return [one for one in (failed, found) if one is not None]


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
            text = f"{_name(past)} ran nothing: {skip_reason(past)}"
            return Finding(FindingCode.SKIPPED, text, _facts(past, reason=past.reason))
        case State.CANCELLED:
            return Finding(
                FindingCode.CANCELLED, f"{_name(past)} was cancelled at {utc(past.changed_at)}", _facts(past)
            )
        case State.SUCCESS:
            text = f"{_name(past)} succeeded at {utc(past.changed_at)}, with attempt {past.attempt}"
            return Finding(FindingCode.SUCCEEDED, text, _facts(past, attempt=past.attempt))
        case state:
            assert_never(state)


async def _waiting_finding(ctx: Context, job: Job, past: InstanceRecord, now: datetime) -> Finding:
    if past.due_at > now:
        what = "is tried again" if past.state == State.FAIL else "is due"
        return Finding(FindingCode.NOT_DUE, f"{_name(past)} {what} at {utc(past.due_at)}", _facts(past))
    hold = await holds.of_instance(ctx, past)
    if hold is not None:
        return hold_finding(past, hold)
    queue = queue_of(job.definition.target)
    if queue is not None:
        return await queue_finding(ctx, past, queue)
    text = f"{_name(past)} is due since {utc(past.due_at)} and waits for its turn at its node"
    return Finding(FindingCode.WAITS_FOR_NODE, text, _facts(past))


def hold_finding(past: InstanceRecord, hold: Hold) -> Finding:
    """Which gate holds the calls of an instance back."""
    cause = HOLD_REASONS.get(hold.reason, f"{hold.reason} of {{name}}").format(name=hold.gate.display_name)
    tried = "" if hold.next_try_at is None else f"; the next call is tried at {utc(hold.next_try_at)}"
    text = f"{_name(past)} is due since {utc(past.due_at)} and held back since {utc(hold.since)}: {cause}{tried}"
    facts = _facts(past, reason=hold.reason, gate=hold.gate.display_name, since=hold.since, waiting=hold.waiting)
    return Finding(FindingCode.HELD, text, facts | {"next_try_at": hold.next_try_at})


async def queue_finding(ctx: Context, past: InstanceRecord, name: str) -> Finding:
    """Whether a worker polls the queue of an instance."""
    [queue] = await queues.describe(ctx, [name])
    facts = _facts(past, queue=name, polling=queue.polling, claimed=queue.claimed, polled_at=queue.polled_at)
    waits = f"{_name(past)} is due since {utc(past.due_at)} and waits for a worker"
    if queue.is_unattended:
        last = (
            "nobody has within the last hour"
            if queue.polled_at is None
            else f"the last poll was at {utc(queue.polled_at)}"
        )
        return Finding(FindingCode.NO_WORKER, f"{waits}: nobody polls the queue {name}, and {last}", facts)
    text = f"{waits}: {queue.polling} poll the queue {name}, and they hold {queue.claimed} of its attempts"
    return Finding(FindingCode.WAITS_FOR_WORKER, text, facts)


async def overlap_finding(ctx: Context, job: Job, past: InstanceRecord) -> Finding:
    """Which fire a blocked instance waits for."""
    live = InstanceFilter(states=tuple(sorted(LIVE - {State.BLOCKED})))
    page = await searches.of_job(ctx, job, live)
    before = [one for one in page.found if one.id != past.id]
    policy = job.definition.policies.overlap.value
    if not before:
        text = f"{_name(past)} waits for the fire before it (overlap {policy}), which has just ended"
        return Finding(FindingCode.OVERLAP, text, _facts(past, overlap=policy))
    first = before[-1]
    text = f"{_name(past)} waits for the fire before it (overlap {policy}): {_name(first)} is {first.state}"
    return Finding(FindingCode.OVERLAP, text, _facts(past, overlap=policy, waits_for=instance_id(first.id)))


def running_finding(past: InstanceRecord) -> Finding:
    """Who runs an instance, and until when the attempt may stay unanswered."""
    runs = past.worker_id or past.node
    by = "" if runs is None else f" by {runs}"
    until = "" if past.deadline is None else f"; it counts as lost after {utc(past.deadline)}"
    text = f"attempt {past.attempt} of {_name(past)} runs{by} since {utc(past.changed_at)}{until}"
    facts = _facts(past, attempt=past.attempt, node=past.node, worker=past.worker_id, deadline=past.deadline)
    return Finding(FindingCode.RUNNING, text, facts)


def failure_finding(past: InstanceRecord) -> Finding | None:
    """How the last attempts failed; None where none did."""
    failed = [one for one in past.attempts or () if one.get("code") is not None][-MAX_NAMED_ATTEMPTS:]
    if failed:
        lines = ", ".join(_attempt_text(one) for one in reversed(failed))
        text = f"{_name(past)} has failed attempts, the newest first: {lines}"
        notes = [{"attempt": one["attempt"], "code": one["code"], "status": one.get("status")} for one in failed]
        return Finding(FindingCode.ATTEMPTS_FAILED, text, _facts(past, attempts=notes))
    cause = past.error_code or past.error_msg
    if past.retry_count == 0 or cause is None:
        return None
    text = f"the last attempt of {_name(past)} failed with {cause}"
    facts = _facts(past, error_code=past.error_code, error_msg=past.error_msg)
    return Finding(FindingCode.ATTEMPTS_FAILED, text, facts)


def _attempt_text(attempt: dict[str, Any]) -> str:
    status = attempt.get("status")
    return f"attempt {attempt['attempt']} with {attempt['code']}" + ("" if status is None else f" (status {status})")


async def dead_letter_finding(ctx: Context, past: InstanceRecord) -> Finding:
    """That an instance was given up, and what became of its dead letter."""
    async with ctx.store.statement(shard_in(past.id)) as tx:
        found = await dead_letters.find(tx, ctx.tenant.id, past.id)
    gave_up = f"{_name(past)} was given up at {utc(past.changed_at)} with {past.error_code}"
    facts = _facts(past, error_code=past.error_code)
    if found is None:
        return Finding(FindingCode.DEAD_LETTER, gave_up, facts)
    advice = f"; `horae dead-letter replay {instance_id(past.id)}` runs it again" if found.status in OPEN else ""
    text = f"{gave_up}; its dead letter is {found.status}{advice}"
    return Finding(FindingCode.DEAD_LETTER, text, facts | {"dead_letter": found.status})


def _name(past: InstanceRecord) -> str:
    return f"{instance_id(past.id)} of the fire at {utc(past.fire_time)}"


def _facts(past: InstanceRecord, **more: object) -> dict[str, Any]:
    return {"instance": instance_id(past.id), "state": past.state, "due_at": past.due_at, **more}
