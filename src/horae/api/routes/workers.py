"""The pull protocol: poll, heartbeat, finish, fail; many instances in each message, and an answer for each of them."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Final, TypeVar
from uuid import UUID

from starlette.requests import Request

from horae.api import hot
from horae.api.hot import documented, told, waiting
from horae.api.models.workers import (
    Failed,
    Failures,
    Finished,
    Finishes,
    Heard,
    HeardAll,
    Heartbeats,
    Held,
    InvalidItem,
    Poll,
    Reported,
    ReportedAll,
    Succeeded,
    Successes,
    UnreadItems,
    Work,
    Works,
    id_of,
    read_item,
)
from horae.api.routing import may
from horae.domain import workers as domain
from horae.domain.outcomes import Declined, Success
from horae.domain.workers import Verdict
from horae.service import successes, workers
from horae.service.context import Context
from horae.service.polls import Polls
from horae.service.proofs import count_refused

routes = hot.router("workers")
STATUS: Final = {Verdict.DONE: 200, Verdict.LATE: 409, Verdict.NOT_NOW: 503, Verdict.INVALID: 422}
ONE = {"instance_id": "ins_01hv3zq5k8e9r7t2m4n6p8s0v1", "attempt": 1, "token": "…"}
POLL = {"queue": "coupon_job", "worker_id": "host-1/4711", "limit": 10, "wait": 30}
HEARTBEAT = {"items": [{**ONE, "seconds": 60}]}
REFUND = {"type": "REFUND", "key": "order-42", "payload": {"amount": 5}}
FINISH = {"items": [{**ONE, "compensations": [REFUND]}, {**ONE, "declined": True, "message": "no longer pending"}]}
FAIL = {"items": [{**ONE, "message": "the printer is on fire", "retry_after": 30}]}
Item = TypeVar("Item", Finished, Failed)
Spoken = TypeVar("Spoken", Finished, Failed, Held)


@routes.post("/workers/poll", openapi_extra=documented(Works, Poll, example=POLL))
@waiting
async def poll(
    request: Request, ctx: Annotated[Context, may("workers.poll")], asked: Annotated[Poll, told(Poll)]
) -> Works:
    """Claim due instances of a queue, or wait for some. Each is one attempt, yours until its deadline."""
    polls: Polls = request.app.state.polls

    async def there() -> bool:
        return not await request.is_disconnected()

    taken = await polls.poll(ctx, asked.queue, asked.worker_id, asked.limit, wait=asked.wait, there=there)
    return Works([Work.of(one) for one in taken], _now(ctx))


@routes.post("/workers/heartbeat", openapi_extra=documented(HeardAll, Heartbeats, example=HEARTBEAT))
async def heartbeat(
    ctx: Annotated[Context, may("workers.heartbeat")], asked: Annotated[UnreadItems, told(UnreadItems)]
) -> HeardAll:
    """Move deadlines away. `yours: false`: it was cancelled, replaced or rescued; stop, and do not finish it."""
    items = [read_item(one, Held) for one in asked.items]
    held = {one: domain.Held(id_, one.attempt, one.token, one.seconds) for one, id_ in _known(ctx, items)}
    answers = await workers.heartbeat(ctx, list(held.values())) if held else []
    of = dict(zip(held, answers, strict=True))
    return HeardAll([_heard(one, of) for one in items], _now(ctx))


@routes.post("/workers/finish", openapi_extra=documented(ReportedAll, Finishes, example=FINISH))
async def finish(
    ctx: Annotated[Context, may("workers.finish")],
    asked: Annotated[UnreadItems | Successes, told(UnreadItems, plain=Successes)],
) -> ReportedAll:
    """Say that attempts are done. The first report of an attempt counts; a late or forged one is refused."""
    if isinstance(asked, Successes):
        return await _succeed(ctx, asked.items)
    return ReportedAll(await _report(ctx, [read_item(one, Finished) for one in asked.items], _finished))


@routes.post("/workers/fail", openapi_extra=documented(ReportedAll, Failures, example=FAIL))
async def fail(
    ctx: Annotated[Context, may("workers.fail")], asked: Annotated[UnreadItems, told(UnreadItems)]
) -> ReportedAll:
    """Say that attempts failed. The job's retry policy decides what follows."""
    return ReportedAll(await _report(ctx, [read_item(one, Failed) for one in asked.items], _failure))


async def _succeed(ctx: Context, items: Sequence[Succeeded]) -> ReportedAll:
    """The most of them by what is remembered here; the others like any report."""
    found = await successes.succeed(ctx, items)
    rest = [Finished(one.instance_id, one.attempt, one.token) for one, how in zip(items, found, strict=True) if not how]
    asked = iter(await _report(ctx, rest, _finished) if rest else ())
    return ReportedAll([_reported(one, how) if how else next(asked) for one, how in zip(items, found, strict=True)])


async def _report(
    ctx: Context, items: Sequence[Item | InvalidItem], said: Callable[[Item], domain.Report]
) -> list[Reported]:
    known = {
        one: domain.Finish(id_, one.attempt, one.token, said(one), one.compensations) for one, id_ in _known(ctx, items)
    }
    answers = await workers.finish(ctx, list(known.values())) if known else []
    of = {one: answer.verdict for one, answer in zip(known, answers, strict=True)}
    return [
        _invalid(one) if isinstance(one, InvalidItem) else _reported(one, of.get(one, Verdict.LATE)) for one in items
    ]


def _reported(one: Finished | Failed | Succeeded, how: Verdict) -> Reported:
    return Reported(one.instance_id, one.attempt, how, STATUS[how])


def _invalid(one: InvalidItem) -> Reported:
    return Reported(one.instance_id, one.attempt, Verdict.INVALID, STATUS[Verdict.INVALID], one.message)


def _known(ctx: Context, items: Sequence[Spoken | InvalidItem]) -> list[tuple[Spoken, UUID]]:
    """Those that speak of an id that can be one; the others are nobody's, and counted like a forged token."""
    valid = [one for one in items if not isinstance(one, InvalidItem)]
    found = [(one, id_) for one in valid if (id_ := id_of(one.instance_id)) is not None]
    count_refused(ctx, len(valid) - len(found))
    return found


def _finished(one: Finished) -> domain.Report:
    return Declined(one.message) if one.declined else Success()


def _failure(one: Failed) -> domain.Failed:
    return domain.Failed(one.message, one.retryable, one.retry_after, one.counted)


def _now(ctx: Context) -> datetime:
    """The cells' time, for workers whose own clock is wrong."""
    return ctx.store.clock.now()


def _heard(one: Held | InvalidItem, answers: Mapping[Held, domain.HeartbeatAnswer]) -> Heard:
    if isinstance(one, InvalidItem):
        return Heard(one.instance_id, one.attempt, yours=True, message=one.message)
    answer = answers.get(one)
    if answer is None:
        return Heard(one.instance_id, one.attempt, yours=False)
    return Heard(one.instance_id, one.attempt, answer.yours, answer.deadline)
