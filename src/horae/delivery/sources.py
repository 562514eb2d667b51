"""Fetches a page of a task source over HTTP, with the egress rules, auth and signature of every other call."""

from collections.abc import Callable
from typing import Any, Final

import msgspec

from horae.delivery.auth import Access
from horae.delivery.http import USER_AGENT, Failure, HttpAnswer, HttpRequest, head, parse_url
from horae.delivery.push import Heard, Sender
from horae.delivery.request_plans import Form, RequestPlan
from horae.delivery.waiting import wait_for_callback
from horae.domain.errors import Invalid, Unavailable
from horae.domain.foreign import Unreadable, read_json
from horae.domain.jobs.jobs import Job
from horae.domain.sources.sources import HttpSource
from horae.domain.targets.targets import HttpTarget
from horae.runtime.randomness import new_token

SMALLEST: Final = 10
"""Items of the smallest page that is asked for."""
Make = Callable[[RequestPlan, Access], HttpRequest]
HEADERS: Final = {"User-Agent": USER_AGENT, "Content-Type": "application/json", "Accept": "application/json"}


class SourcePage(msgspec.Struct):
    """One page of a source: its items, and the cursor of the next page; None on the last page."""

    items: list[dict[str, Any]]
    next: str | None = None


async def page(sender: Sender, job: Job, origin: HttpSource, cursor: str | None) -> SourcePage:
    """Fetch the page at a cursor. A page that is longer than the bytes we read is fetched again with half the items."""
    plan, limit = _plan(job, origin), origin.page
    while True:
        answer = _answer(await _send(sender, plan, _request_maker(sender, origin, job, cursor, limit)))
        if not answer.cut:
            return _decode_page(answer)
        if limit <= SMALLEST:
            raise Invalid(f"a page of {limit} items is longer than what is read of an answer")
        limit = max(SMALLEST, limit // 2)


async def _send(sender: Sender, plan: RequestPlan, make: Make) -> Heard:
    def begin(done: Callable[[Heard], None]) -> None:
        sender.send(plan, make, done)

    return await wait_for_callback(begin)


def _plan(job: Job, origin: HttpSource) -> RequestPlan:
    target = HttpTarget(
        origin.url,
        auth=origin.auth,
        signing=origin.signing,
        ca=origin.ca,
        connect_timeout=origin.connect_timeout,
        read_timeout=origin.read_timeout,
    )
    return RequestPlan(job, target, Form(target))


def _request_maker(sender: Sender, origin: HttpSource, job: Job, cursor: str | None, limit: int) -> Make:
    """Return the function that builds the request. It is a POST, so that the signature covers the query."""
    body = msgspec.json.encode({"type": job.name, "cursor": cursor, "limit": limit})
    first = head("POST", parse_url(origin.url), HEADERS)

    def make(plan: RequestPlan, access: Access) -> HttpRequest:
        return plan.complete(first, "", f"msg_{new_token().hex}", body, access, int(sender.wall()))

    return make


def _answer(heard: Heard) -> HttpAnswer:
    if isinstance(heard, HttpAnswer):
        if heard.status == 200:
            return heard
        raise Unavailable(f"the source answered {heard.status}")
    if isinstance(heard, Failure):
        raise Unavailable(f"the source cannot be asked: {heard.message}")
    raise Unavailable(f"the source cannot be asked: {getattr(heard, 'message', type(heard).__name__)}")


def _decode_page(answer: HttpAnswer) -> SourcePage:
    try:
        return read_json(answer.body, SourcePage)
    except Unreadable as error:
        raise Invalid(f"the source's page cannot be read: {error}") from error
