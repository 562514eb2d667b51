"""Models of the worker protocol, as msgspec structs: these are the busiest messages."""

from datetime import datetime
from typing import Annotated, Any, TypeVar
from uuid import UUID

import msgspec
from msgspec import Meta

from horae.domain.errors import Invalid, NotFound
from horae.domain.ids import LONGEST_ID, Prefix, private
from horae.domain.instances.logs import (
    LONGEST_LEVEL,
    LONGEST_LINE,
    MAX_BATCH_LINES,
    MAX_LINE_NUMBER,
    LogLine,
    check_lines,
)
from horae.domain.instances.results import LONGEST_PROGRESS, AttemptProgress, check_result
from horae.domain.names import LONGEST_NAME
from horae.domain.targets.targets import MAX_CLAIM_S
from horae.domain.tasks.compensations import MOST, Compensation, check
from horae.domain.tasks.tasks import LONGEST_KEY
from horae.domain.traces.contexts import traceparent
from horae.domain.workers.workers import LONGEST_WORKER, ClaimedAttempt
from horae.domain.workers.workers import MOST as MOST_REPORTED
from horae.service.workers.polls import MAX_POLL_WAIT_S

Many = Meta(min_length=1, max_length=MOST_REPORTED)
Id = Annotated[str, Meta(max_length=LONGEST_ID, examples=["ins_01hv3zq5k8e9r7t2m4n6p8s0v1"])]
Attempt = Annotated[int, Meta(ge=1, le=2**31 - 1)]
Token = Annotated[str, Meta(max_length=200)]
Message = Annotated[str, Meta(max_length=100_000)]


class PollRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Claim up to `limit` due instances of a queue. A long poll waits up to `wait` seconds."""

    queue: Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME)]
    worker_id: Annotated[str, Meta(min_length=1, max_length=LONGEST_WORKER)]
    limit: Annotated[int, Meta(ge=1, le=MOST_REPORTED)] = 200
    wait: Annotated[float, Meta(ge=0, le=MAX_POLL_WAIT_S)] = 0.0


class ClaimedItem(msgspec.Struct, frozen=True, gc=False):
    """One claimed attempt. The worker owns it until `deadline`."""

    instance_id: str
    job: str
    attempt: int
    fire_time: datetime
    idempotency_key: str
    deadline: datetime
    token: str
    key: str | None
    payload: Any
    traceparent: str

    @classmethod
    def of(cls, one: ClaimedAttempt) -> "ClaimedItem":
        """Returns the item of a claimed attempt."""
        return cls(
            one.public_id,
            one.job,
            one.attempt,
            one.fire_time,
            one.idempotency_key,
            one.deadline,
            one.token,
            one.key,
            one.payload,
            traceparent(one.instance_id, one.attempt, sampled=one.sampled),
        )


class ClaimedBatch(msgspec.Struct, frozen=True):
    """The claimed attempts; the list may be empty. `now` is the server time, to compare with the deadlines.

    `drained: true` is given only to a worker that a person drained: it gets no new work, and what it holds goes on.
    """

    items: list[ClaimedItem]
    now: datetime
    drained: bool | msgspec.UnsetType = msgspec.UNSET


class ProgressReport(AttemptProgress, frozen=True, forbid_unknown_fields=True):
    """How far an attempt is. The last one is shown with the instance, until the attempt ends."""

    percent: Annotated[float, Meta(ge=0, le=100)]
    text: Annotated[str, Meta(max_length=LONGEST_PROGRESS)] = ""


class HeartbeatRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An attempt that the worker still runs. The next heartbeat follows within `seconds`."""

    instance_id: Id
    attempt: Attempt
    token: Token
    seconds: Annotated[float, Meta(gt=0, le=MAX_CLAIM_S)] | None = None
    progress: ProgressReport | None = None


class HeartbeatRequests(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The attempts that the worker still runs."""

    items: Annotated[list[HeartbeatRequest], Many]


class HeartbeatResult(msgspec.Struct, frozen=True):
    """Whether the worker still owns the attempt. With `yours: false`, stop.

    Without a `deadline` the server could not check it: send the heartbeat again. `message` says why an item is
    invalid; its deadline has not moved.
    """

    instance_id: str
    attempt: int
    yours: bool
    deadline: datetime | None = None
    message: str | msgspec.UnsetType = msgspec.UNSET


class HeartbeatResults(msgspec.Struct, frozen=True):
    """A result for each attempt, in order. `now` is the server time, to compare with the deadlines."""

    items: list[HeartbeatResult]
    now: datetime


class CompensationRequest(Compensation, frozen=True, forbid_unknown_fields=True):
    """A task to create once, in the same transaction as the report. The default of `at` is now."""

    type: Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME)]
    key: Annotated[str, Meta(min_length=1, max_length=LONGEST_KEY)]
    at: Annotated[datetime, Meta(tz=True)] | None = None
    payload: Any = msgspec.UNSET
    version: int | None = None


Compensations = Annotated[list[CompensationRequest], Meta(max_length=MOST)]


class FinishRequest(msgspec.Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """An attempt that finished. `declined`: the worker had nothing to do.

    `result` is any JSON of at most 64 KiB; null is no result. It is stored in the transaction that ends the instance.
    """

    instance_id: Id
    attempt: Attempt
    token: Token
    declined: bool = False
    message: Message = ""
    compensations: Compensations = []
    result: Any = None


class FinishRequests(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The attempts that finished."""

    items: Annotated[list[FinishRequest], Many]


class SuccessRequest(msgspec.Struct, frozen=True, eq=False, gc=False, forbid_unknown_fields=True):
    """An attempt that succeeded, without optional fields. Most reports are like this."""

    instance_id: Id
    attempt: Attempt
    token: Token


class SuccessRequests(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The simplest form of `FinishRequests`."""

    items: Annotated[list[SuccessRequest], Many]


class FailRequest(msgspec.Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """An attempt that failed. `retryable`: a retry may help, after at least `retry_after` seconds.

    `counted: false`: the worker returns the attempt without a failure. It is due again after `retry_after` seconds.
    """

    instance_id: Id
    attempt: Attempt
    token: Token
    message: Message
    retryable: bool = True
    retry_after: Annotated[float, Meta(ge=0, le=366 * 86400)] | None = None
    counted: bool = True
    compensations: Compensations = []


class FailRequests(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The attempts that failed."""

    items: Annotated[list[FailRequest], Many]


class LineRequest(LogLine, frozen=True, forbid_unknown_fields=True):
    """One line that an attempt logs."""

    at: Annotated[datetime, Meta(tz=True)]
    text: Annotated[str, Meta(max_length=LONGEST_LINE)]
    level: Annotated[str, Meta(min_length=1, max_length=LONGEST_LEVEL)] = "info"


class LogRequest(msgspec.Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """Lines of a running attempt, at most 128 KiB as JSON. The last 1 MiB of an attempt is kept.

    `first` is the number of the first line, counted from 0 over the whole attempt, with lines that the worker dropped:
    a batch that is sent again is stored once. Without it the lines follow the last stored one.
    """

    instance_id: Id
    attempt: Attempt
    token: Token
    lines: Annotated[list[LineRequest], Meta(min_length=1, max_length=MAX_BATCH_LINES)]
    first: Annotated[int, Meta(ge=0, le=MAX_LINE_NUMBER)] | None = None


class LogRequests(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The lines of some attempts."""

    items: Annotated[list[LogRequest], Many]


class ReportResult(msgspec.Struct, frozen=True, gc=False):
    """The answer to a report: `done`; `late`, the worker no longer owns the attempt (409); `not_now`, retry (503).

    `full`: only for log lines, the tenant has logged as much as it may today (429).
    `invalid`: the item is invalid, see `code` and `message`; nothing was written for it (422).
    """

    instance_id: str
    attempt: int
    verdict: str
    status: int
    message: str | msgspec.UnsetType = msgspec.UNSET
    code: str | msgspec.UnsetType = msgspec.UNSET


class ReportResults(msgspec.Struct, frozen=True):
    """A result for each report, in order."""

    items: list[ReportResult]


class UndecodedItems(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A message whose items are decoded one by one, so that an invalid item does not refuse the others."""

    items: Annotated[list[Any], Many]


class InvalidItem(msgspec.Struct, frozen=True, eq=False):
    """An invalid item: the instance and attempt that it names, the error, and its code."""

    instance_id: str
    attempt: int
    message: str
    code: str = Invalid.code


Item = TypeVar("Item", HeartbeatRequest, FinishRequest, FailRequest, LogRequest)


def read_item(value: Any, kind: type[Item]) -> Item | InvalidItem:
    """Decode one item of a message."""
    try:
        item = msgspec.convert(value, kind)
        if isinstance(item, LogRequest):
            check_lines(item.lines, item.first)
        elif not isinstance(item, HeartbeatRequest):
            check(item.compensations)
        if isinstance(item, FinishRequest):
            check_result(item.result)
    except (msgspec.ValidationError, Invalid) as error:
        named = value if isinstance(value, dict) else {}
        id_, attempt = named.get("instance_id"), named.get("attempt")
        return InvalidItem(
            id_[:LONGEST_ID] if isinstance(id_, str) else "",
            attempt if type(attempt) is int else 0,
            str(error),
            getattr(error, "code", Invalid.code),
        )
    return item


def id_of(text: str) -> UUID | None:
    """Returns the instance id of a text, or None if the text is not an id."""
    try:
        return private(Prefix.INSTANCE, text)
    except NotFound:
        return None
