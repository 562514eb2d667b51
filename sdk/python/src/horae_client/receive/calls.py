"""A call as a receiver sees it, and its possible answers."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import unquote

import msgspec

from horae_client.outcomes import Declined, Outcome, Retry, Snooze, Unrecoverable
from horae_client.wire import encode


class Received(NamedTuple):
    """A request of any framework."""

    headers: Mapping[str, str]
    body: bytes


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt that Horae sends. `body` is the whole body, for targets with a body of their own."""

    idempotency_key: str
    attempt: int = 1
    job: str | None = None
    instance: str | None = None
    key: str | None = None
    payload: Any = None
    fire_time: datetime | None = None
    traceparent: str | None = None
    completion_token: str | None = None
    test: bool = False
    body: Any = None


Answer = tuple[int, dict[str, str], bytes]


def call_of(received: Received, signed_id: str | None = None) -> Call:
    """Parse a request. Fields that an unusual body does not have are read from the headers.

    `signed_id` is the id in the signature. If the body has no idempotency key (a batch, events, a body of your own),
    this id is the key; the header is not used, because it is not signed.

    >>> from horae_client.receive.calls import Received, call_of
    >>> call_of(Received({"Idempotency-Key": "k%20:1", "Horae-Attempt": "2"}, b"")).idempotency_key
    'k :1'
    """
    lowered = {name.lower(): value for name, value in received.headers.items()}
    try:
        body = msgspec.json.decode(received.body) if received.body else None
    except (msgspec.MsgspecError, ValueError, RecursionError):
        body = None
    said = body if isinstance(body, dict) else {}
    moment, key = said.get("fire_time"), said.get("idempotency_key")
    if not key or not isinstance(key, str):
        key = unquote(lowered.get("idempotency-key", "") if signed_id is None else signed_id)
    return Call(
        idempotency_key=key,
        attempt=_attempt(lowered.get("horae-attempt") or said.get("attempt")),
        job=said.get("job"),
        instance=said.get("instance"),
        key=said.get("key"),
        payload=said.get("payload"),
        fire_time=_moment(moment),
        traceparent=lowered.get("traceparent"),
        completion_token=lowered.get("horae-completion-token"),
        test="horae-test" in lowered,
        body=body,
    )


def _attempt(said: object) -> int:
    """The number of an attempt; 1 if it cannot be parsed."""
    try:
        return max(1, int(said)) if isinstance(said, int | str) else 1
    except ValueError:
        return 1


def _moment(said: object) -> datetime | None:
    """A time; None if it cannot be parsed."""
    try:
        return msgspec.convert(said, datetime) if isinstance(said, str) else None
    except (msgspec.MsgspecError, ValueError):
        return None


def answer_of(said: object) -> Answer:
    """The HTTP answer for what a handler returned, or raised on purpose.

    >>> from horae_client.receive.calls import answer_of
    >>> answer_of(None)
    (204, {}, b'')
    """
    match said:
        case Declined(reason=reason):
            return 200, {"Horae-Outcome": "declined", "Content-Type": "text/plain; charset=utf-8"}, reason.encode()
        case Unrecoverable(reason=reason):
            return 422, {"Content-Type": "text/plain; charset=utf-8"}, reason.encode()
        case Snooze(seconds=seconds, reason=reason):
            return 425, {"Retry-After": str(round(seconds))} if seconds >= 1 else {}, reason.encode()
        case Retry(after=after, reason=reason):
            return 503, {} if after is None else {"Retry-After": str(max(1, round(after)))}, reason.encode()
        case Outcome(reason=reason):
            return 503, {}, reason.encode()
        case None:
            return 204, {}, b""
        case _:
            return 200, {"Content-Type": "application/json"}, encode(said)
