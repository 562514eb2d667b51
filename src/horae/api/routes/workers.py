"""Routes of the worker protocol: poll, heartbeat, log, finish, fail. Each message has many items."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Final, TypeVar
from uuid import UUID

from starlette.requests import Request

from horae.api import hot
from horae.api.hot import document_of, json_body, long_poll
from horae.api.models.workers import (
    ClaimedBatch,
    ClaimedItem,
    FailRequest,
    FailRequests,
    FinishRequest,
    FinishRequests,
    HeartbeatRequest,
    HeartbeatRequests,
    HeartbeatResult,
    HeartbeatResults,
    InvalidItem,
    LogRequest,
    LogRequests,
    PollRequest,
    ReportResult,
    ReportResults,
    SuccessRequest,
    SuccessRequests,
    UndecodedItems,
    id_of,
    read_item,
)
from horae.api.routing import may
from horae.domain.instances.logs import LogBatch
from horae.domain.instances.outcomes import DeclinedCall, Success
from horae.domain.workers import workers as domain
from horae.domain.workers.queue_workers import LONGEST_ORIGIN, PollOrigin
from horae.domain.workers.workers import ReportVerdict
from horae.service.context import Context
from horae.service.instances import logs
from horae.service.workers import success_batches, workers
from horae.service.workers.ownership import count_refused
from horae.service.workers.polls import Polls

routes = hot.router("workers")
STATUS: Final = {
    ReportVerdict.DONE: 200,
    ReportVerdict.LATE: 409,
    ReportVerdict.NOT_NOW: 503,
    ReportVerdict.INVALID: 422,
    ReportVerdict.FULL: 429,
}
ONE = {"instance_id": "ins_01hv3zq5k8e9r7t2m4n6p8s0v1", "attempt": 1, "token": "…"}
POLL = {"queue": "coupon_job", "worker_id": "host-1/4711", "limit": 10, "wait": 30}
HEARTBEAT = {"items": [{**ONE, "seconds": 60, "progress": {"percent": 40, "text": "page 4 of 10"}}]}
REFUND = {"type": "REFUND", "key": "order-42", "payload": {"amount": 5}}
FINISH = {
    "items": [
        {**ONE, "result": {"sent": 3}, "compensations": [REFUND]},
        {**ONE, "declined": True, "message": "no longer pending"},
    ]
}
LINES = [{"at": "2026-11-18T08:00:00Z", "text": "page 4 of 10", "level": "info"}]
FAIL = {"items": [{**ONE, "message": "the printer is on fire", "retry_after": 30}]}
Item = TypeVar("Item", FinishRequest, FailRequest)
Spoken = TypeVar("Spoken", FinishRequest, FailRequest, HeartbeatRequest, LogRequest)


@routes.post("/workers/poll", openapi_extra=document_of(ClaimedBatch, PollRequest, example=POLL))
@long_poll
async def poll_queue(
    request: Request,
    ctx: Annotated[Context, may("workers.poll")],
    asked: Annotated[PollRequest, json_body(PollRequest)],
) -> ClaimedBatch:
    """Claim due instances of a queue, or wait for them. The worker owns each attempt until its deadline."""
    polls: Polls = request.app.state.polls

    async def there() -> bool:
        return not await request.is_disconnected()

    origin = PollOrigin(_client_of(request), request.client.host if request.client else None)
    try:
        taken = await polls.poll(
            ctx, asked.queue, asked.worker_id, asked.limit, wait=asked.wait, there=there, origin=origin
        )
    except domain.WorkerDrained:
        return ClaimedBatch([], _now(ctx), drained=True)
    return ClaimedBatch([ClaimedItem.of(one) for one in taken], _now(ctx))


@routes.post("/workers/heartbeat", openapi_extra=document_of(HeartbeatResults, HeartbeatRequests, example=HEARTBEAT))
async def send_heartbeats(
    ctx: Annotated[Context, may("workers.heartbeat")], asked: Annotated[UndecodedItems, json_body(UndecodedItems)]
) -> HeartbeatResults:
    """Extend deadlines. `yours: false`: the attempt was cancelled, replaced or lost; stop, and do not finish it."""
    items = [read_item(one, HeartbeatRequest) for one in asked.items]
    held = {
        one: domain.Heartbeat(id_, one.attempt, one.token, one.seconds, one.progress)
        for one, id_ in _with_valid_ids(ctx, items)
    }
    answers = await workers.heartbeat(ctx, list(held.values())) if held else []
    of = dict(zip(held, answers, strict=True))
    return HeartbeatResults([_heartbeat_result(one, of) for one in items], _now(ctx))


@routes.post("/workers/finish", openapi_extra=document_of(ReportResults, FinishRequests, example=FINISH))
async def finish_attempts(
    ctx: Annotated[Context, may("workers.finish")],
    asked: Annotated[UndecodedItems | SuccessRequests, json_body(UndecodedItems, plain=SuccessRequests)],
) -> ReportResults:
    """Report finished attempts. The first report of an attempt counts; a late or forged report is refused."""
    if isinstance(asked, SuccessRequests):
        return await _succeed(ctx, asked.items)
    return ReportResults(await _report(ctx, [read_item(one, FinishRequest) for one in asked.items], _finish_of))


@routes.post("/workers/fail", openapi_extra=document_of(ReportResults, FailRequests, example=FAIL))
async def fail_attempts(
    ctx: Annotated[Context, may("workers.fail")], asked: Annotated[UndecodedItems, json_body(UndecodedItems)]
) -> ReportResults:
    """Report failed attempts. The retry policy of the job decides what follows."""
    return ReportResults(await _report(ctx, [read_item(one, FailRequest) for one in asked.items], _failure))


@routes.post(
    "/workers/logs",
    openapi_extra=document_of(ReportResults, LogRequests, example={"items": [{**ONE, "first": 0, "lines": LINES}]}),
)
async def append_logs(
    ctx: Annotated[Context, may("workers.log")], asked: Annotated[UndecodedItems, json_body(UndecodedItems)]
) -> ReportResults:
    """Append log lines of running attempts. `full`: the tenant has logged as much as it may today; drop the lines."""
    items = [read_item(one, LogRequest) for one in asked.items]
    known = {
        one: LogBatch(id_, one.attempt, one.token, one.lines, one.first) for one, id_ in _with_valid_ids(ctx, items)
    }
    of = dict(zip(known, await logs.append(ctx, list(known.values())) if known else (), strict=True))
    return ReportResults(
        [
            _invalid(one) if isinstance(one, InvalidItem) else _report_result(one, of.get(one, ReportVerdict.LATE))
            for one in items
        ]
    )


def _client_of(request: Request) -> str | None:
    """Returns the name and version that a client gives itself, where these can be printed."""
    named = request.headers.get("user-agent", "")[:LONGEST_ORIGIN]
    return named if named and named.isprintable() else None


async def _succeed(ctx: Context, items: Sequence[SuccessRequest]) -> ReportResults:
    """Report most successes from the memory of this process, and the others like any report."""
    found = await success_batches.succeed(ctx, items)
    rest = [
        FinishRequest(one.instance_id, one.attempt, one.token) for one, how in zip(items, found, strict=True) if not how
    ]
    asked = iter(await _report(ctx, rest, _finish_of) if rest else ())
    return ReportResults(
        [_report_result(one, how) if how else next(asked) for one, how in zip(items, found, strict=True)]
    )


async def _report(
    ctx: Context, items: Sequence[Item | InvalidItem], said: Callable[[Item], domain.Report]
) -> list[ReportResult]:
    known = {
        one: domain.Finish(id_, one.attempt, one.token, said(one), one.compensations, getattr(one, "result", None))
        for one, id_ in _with_valid_ids(ctx, items)
    }
    answers = await workers.finish(ctx, list(known.values())) if known else []
    of = {one: answer.verdict for one, answer in zip(known, answers, strict=True)}
    return [
        _invalid(one) if isinstance(one, InvalidItem) else _report_result(one, of.get(one, ReportVerdict.LATE))
        for one in items
    ]


def _report_result(one: FinishRequest | FailRequest | SuccessRequest | LogRequest, how: ReportVerdict) -> ReportResult:
    return ReportResult(one.instance_id, one.attempt, how, STATUS[how])


def _invalid(one: InvalidItem) -> ReportResult:
    how = ReportVerdict.INVALID
    return ReportResult(one.instance_id, one.attempt, how, STATUS[how], one.message, one.code)


def _with_valid_ids(ctx: Context, items: Sequence[Spoken | InvalidItem]) -> list[tuple[Spoken, UUID]]:
    """Returns the items with a possible id. The others are counted like a forged token."""
    valid = [one for one in items if not isinstance(one, InvalidItem)]
    found = [(one, id_) for one in valid if (id_ := id_of(one.instance_id)) is not None]
    count_refused(ctx, len(valid) - len(found))
    return found


def _finish_of(one: FinishRequest) -> domain.Report:
    return DeclinedCall(one.message) if one.declined else Success()


def _failure(one: FailRequest) -> domain.FailureReport:
    return domain.FailureReport(one.message, one.retryable, one.retry_after, one.counted)


def _now(ctx: Context) -> datetime:
    """Returns the time of the cells, for workers with a wrong clock."""
    return ctx.now()


def _heartbeat_result(
    one: HeartbeatRequest | InvalidItem, answers: Mapping[HeartbeatRequest, domain.HeartbeatAnswer]
) -> HeartbeatResult:
    if isinstance(one, InvalidItem):
        return HeartbeatResult(one.instance_id, one.attempt, yours=True, message=one.message)
    answer = answers.get(one)
    if answer is None:
        return HeartbeatResult(one.instance_id, one.attempt, yours=False)
    return HeartbeatResult(one.instance_id, one.attempt, answer.yours, answer.deadline)
