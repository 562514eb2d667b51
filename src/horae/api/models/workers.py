"""What workers say and hear, as structs: these are the busiest messages."""

from datetime import datetime
from typing import Annotated, Any, Final, TypeVar
from uuid import UUID

import msgspec
from msgspec import Meta

from horae.domain.compensations import MOST, Compensation, check
from horae.domain.errors import Invalid, NotFound
from horae.domain.ids import Prefix, private
from horae.domain.tasks import LONGEST_KEY
from horae.domain.tokens import traceparent
from horae.domain.workers import Claimed
from horae.runtime.chance import span

Many = Meta(min_length=1, max_length=1000)
LONGEST_ID: Final = 60
Id = Annotated[str, Meta(max_length=LONGEST_ID, examples=["ins_01hv3zq5k8e9r7t2m4n6p8s0v1"])]
Attempt = Annotated[int, Meta(ge=1, le=2**31 - 1)]
Token = Annotated[str, Meta(max_length=200)]
Message = Annotated[str, Meta(max_length=100_000)]


class Poll(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Claim up to `limit` due instances of a queue, or wait so many seconds for some."""

    queue: Annotated[str, Meta(min_length=1, max_length=120)]
    worker_id: Annotated[str, Meta(min_length=1, max_length=200)]
    limit: Annotated[int, Meta(ge=1, le=1000)] = 200
    wait: Annotated[float, Meta(ge=0, le=60)] = 0.0


class Work(msgspec.Struct, frozen=True, gc=False):
    """One attempt in your hands, until its deadline."""

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
    def of(cls, one: Claimed) -> "Work":
        """What was claimed as it is shown."""
        return cls(
            one.shown_id,
            one.job,
            one.attempt,
            one.fire_time,
            one.idempotency_key,
            one.deadline,
            one.token,
            one.key,
            one.payload,
            traceparent(one.instance_id, span()),
        )


class Works(msgspec.Struct, frozen=True):
    """What was claimed; nothing is an answer, too. `now` is the time by which the deadlines are meant."""

    items: list[Work]
    now: datetime


class Held(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An attempt you still work on, and within how many seconds you will be heard again."""

    instance_id: Id
    attempt: Attempt
    token: Token
    seconds: Annotated[float, Meta(gt=0, le=3600)] | None = None


class Heartbeats(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What you still work on."""

    items: Annotated[list[Held], Many]


class Heard(msgspec.Struct, frozen=True):
    """Whether it is still yours; if not, stop. Without a deadline it could not be asked just now: beat again.

    `message` says why an item is invalid; its deadline has not moved.
    """

    instance_id: str
    attempt: int
    yours: bool
    deadline: datetime | None = None
    message: str | msgspec.UnsetType = msgspec.UNSET


class HeardAll(msgspec.Struct, frozen=True):
    """An answer for each, in order. `now` is the time by which the deadlines are meant."""

    items: list[Heard]
    now: datetime


class Compensate(Compensation, frozen=True, forbid_unknown_fields=True):
    """A task that is to follow, made once, in the end's own transaction; due now where `at` is left out."""

    type: Annotated[str, Meta(min_length=1, max_length=120)]
    key: Annotated[str, Meta(min_length=1, max_length=LONGEST_KEY)]
    at: Annotated[datetime, Meta(tz=True)] | None = None
    payload: Any = msgspec.UNSET
    version: int | None = None


Compensations = Annotated[list[Compensate], Meta(max_length=MOST)]


class Finished(msgspec.Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """An attempt that is done. `declined`: nothing was to do, and nothing was done."""

    instance_id: Id
    attempt: Attempt
    token: Token
    declined: bool = False
    message: Message = ""
    compensations: Compensations = []


class Finishes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is done."""

    items: Annotated[list[Finished], Many]


class Succeeded(msgspec.Struct, frozen=True, eq=False, gc=False, forbid_unknown_fields=True):
    """An attempt that is done, and nothing else is to be said of it: as most are finished."""

    instance_id: Id
    attempt: Attempt
    token: Token


class Successes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The plainest form of `Finishes`."""

    items: Annotated[list[Succeeded], Many]


class Failed(msgspec.Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """An attempt that failed: whether trying again may help, and not before how many seconds.

    `counted: false`: it did not fail, it is given back, and due again after `retry_after`.
    """

    instance_id: Id
    attempt: Attempt
    token: Token
    message: Message
    retryable: bool = True
    retry_after: Annotated[float, Meta(ge=0, le=366 * 86400)] | None = None
    counted: bool = True
    compensations: Compensations = []


class Failures(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What failed."""

    items: Annotated[list[Failed], Many]


class Reported(msgspec.Struct, frozen=True, gc=False):
    """What became of a report: `done`; `late`, no longer yours (409); `not_now`, say it again (503).

    `invalid`: the item is wrong as `message` says, and nothing was written for it (422).
    """

    instance_id: str
    attempt: int
    verdict: str
    status: int
    message: str | msgspec.UnsetType = msgspec.UNSET


class ReportedAll(msgspec.Struct, frozen=True):
    """An answer for each, in order."""

    items: list[Reported]


class UnreadItems(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A message whose items are not decoded yet: one invalid item refuses no other."""

    items: Annotated[list[Any], Many]


class InvalidItem(msgspec.Struct, frozen=True, eq=False):
    """An item that is wrong: the attempt it names, as far as it names one, and what is wrong."""

    instance_id: str
    attempt: int
    message: str


Item = TypeVar("Item", Held, Finished, Failed)


def read_item(value: Any, kind: type[Item]) -> Item | InvalidItem:
    """Decode one item of a message by itself."""
    try:
        item = msgspec.convert(value, kind)
        if not isinstance(item, Held):
            check(item.compensations)
    except (msgspec.ValidationError, Invalid) as error:
        named = value if isinstance(value, dict) else {}
        id_, attempt = named.get("instance_id"), named.get("attempt")
        return InvalidItem(
            id_[:LONGEST_ID] if isinstance(id_, str) else "",
            attempt if type(attempt) is int else 0,
            str(error),
        )
    return item


def id_of(text: str) -> UUID | None:
    """The instance behind an id; None for what is none."""
    try:
        return private(Prefix.INSTANCE, text)
    except NotFound:
        return None
