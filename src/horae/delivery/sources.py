"""Asks a business system for a page of what should be pending. Guarded, signed and authenticated as every call is."""

from collections.abc import Callable
from typing import Any, Final

import msgspec

from horae.delivery.auth import Access
from horae.delivery.http import USER_AGENT, Answer, Failure, Request, head, place_of
from horae.delivery.plans import Form, Plan
from horae.delivery.push import Heard, Sender
from horae.delivery.waiting import answered
from horae.domain.errors import Invalid, Unavailable
from horae.domain.foreign import Unreadable, read_json
from horae.domain.jobs import Job
from horae.domain.sources import HttpSource
from horae.domain.targets import HttpTarget
from horae.runtime.chance import token

SMALLEST: Final = 10
Make = Callable[[Plan, Access], Request]
HEADERS: Final = {"User-Agent": USER_AGENT, "Content-Type": "application/json", "Accept": "application/json"}


class Said(msgspec.Struct):
    """A page as it was answered: its items, and the cursor of the next; none: it was the last."""

    items: list[dict[str, Any]]
    next: str | None = None


async def page(sender: Sender, job: Job, origin: HttpSource, cursor: str | None) -> Said:
    """The page at a cursor. One that is longer than what we read of an answer is asked for again, shorter."""
    plan, limit = _plan(job, origin), origin.page
    while True:
        answer = _answer(await _heard(sender, plan, _asking(sender, origin, job, cursor, limit)))
        if not answer.cut:
            return _said(answer)
        if limit <= SMALLEST:
            raise Invalid(f"a page of {limit} items is longer than what is read of an answer")
        limit = max(SMALLEST, limit // 2)


async def _heard(sender: Sender, plan: Plan, make: Make) -> Heard:
    def begin(done: Callable[[Heard], None]) -> None:
        sender.send(plan, make, done)

    return await answered(begin)


def _plan(job: Job, origin: HttpSource) -> Plan:
    target = HttpTarget(
        origin.url,
        auth=origin.auth,
        signing=origin.signing,
        ca=origin.ca,
        connect_timeout=origin.connect_timeout,
        read_timeout=origin.read_timeout,
    )
    return Plan(job, target, Form(target))


def _asking(sender: Sender, origin: HttpSource, job: Job, cursor: str | None, limit: int) -> Make:
    """A POST, so that the signature covers what is asked for."""
    body = msgspec.json.encode({"type": job.name, "cursor": cursor, "limit": limit})
    first = head("POST", place_of(origin.url), HEADERS)

    def make(plan: Plan, access: Access) -> Request:
        return plan.closed(first, "", f"msg_{token().hex}", body, access, int(sender.wall()))

    return make


def _answer(heard: Heard) -> Answer:
    if isinstance(heard, Answer):
        if heard.status == 200:
            return heard
        raise Unavailable(f"the source answered {heard.status}")
    if isinstance(heard, Failure):
        raise Unavailable(f"the source cannot be asked: {heard.message}")
    raise Unavailable(f"the source cannot be asked: {getattr(heard, 'message', type(heard).__name__)}")


def _said(answer: Answer) -> Said:
    try:
        return read_json(answer.body, Said)
    except Unreadable as error:
        raise Invalid(f"the source's page cannot be read: {error}") from error
