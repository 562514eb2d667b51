"""What a new time means for a business key (seed 000).

At most one live instance per key. A waiting one moves in place, a running one is replaced and never moved, one
that succeeded stays as it is, and anything else starts anew. The verb around this reads, decides and writes;
when the row moved in between, it reads and decides again: a lost race is never the end of a request.
"""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, assert_never
from uuid import UUID

import msgspec

from horae.domain.errors import Invalid
from horae.domain.instances import Instance
from horae.domain.lifecycle import State
from horae.domain.times import is_known

LONGEST_KEY: Final = 200
LARGEST_PAYLOAD: Final = 64 * 1024
DEEPEST_PAYLOAD: Final = 32
"""As deep as a body of the API: what came in by a topic or a source goes out by the same encoders."""
TOO_DEEP: Final = f"a payload may be nested {DEEPEST_PAYLOAD} levels deep"
OWN_KEY: Final = "self"  # the business key of a once or delay job: the job itself is its key


class AfterSuccess(StrEnum):
    """What a new time for a key that succeeded means: nothing, or a new generation."""

    IGNORE = "ignore"
    REOPEN = "reopen"


class Decision(StrEnum):
    """What was done with an intent; the answer of every PUT."""

    CREATED = "created"
    MOVED = "moved"
    REPLACED = "replaced"
    IGNORED = "ignored"
    CANCELLED = "cancelled"


class IgnoreReason(StrEnum):
    """Why an intent changed nothing."""

    SUCCEEDED = "succeeded"
    STALE = "stale"
    NOT_LIVE = "not_live"


class Intent(msgspec.Struct, frozen=True):
    """What the business wants: a time, perhaps a new payload, perhaps the version of its own event."""

    at: datetime
    payload: Any = msgspec.UNSET
    version: int | None = None


class Ledger(msgspec.Struct, frozen=True):
    """The permanent memory of a key: it outlives its instances."""

    generation: int
    outcome: State | None
    intent_version: int | None
    revision: int
    instance_id: UUID


class Known(msgspec.Struct, frozen=True):
    """A key's live row and ledger, read by one statement."""

    live: Instance | None = None
    ledger: Ledger | None = None


class Create(msgspec.Struct, frozen=True):
    """Insert a new instance. `after` is the generation the ledger must still show."""

    after: int
    at: datetime


class Move(msgspec.Struct, frozen=True):
    """Give the waiting instance a new time; id, retry_count and error_msg stay."""

    found: Instance
    at: datetime


class Replace(msgspec.Struct, frozen=True):
    """Cancel the running instance and insert a new one. The call in flight is never aborted."""

    found: Instance
    at: datetime


class Ignore(msgspec.Struct, frozen=True):
    """Change nothing, and say why."""

    reason: IgnoreReason


class Cancel(msgspec.Struct, frozen=True):
    """End the live instance."""

    found: Instance


Change = Create | Move | Replace | Ignore


def check_key(business_key: str) -> None:
    """Refuse keys that could not be told apart or printed later."""
    if not business_key or len(business_key) > LONGEST_KEY or not business_key.isprintable():
        raise Invalid(f"a business key is 1 to {LONGEST_KEY} printable characters")


def check_time(at: datetime | None) -> None:
    """Refuse times that could mean several moments, or that no clock will show."""
    if at is None:
        return
    if at.tzinfo is None:
        raise Invalid("a time needs its offset, for example 2026-11-15T09:00:00+08:00")
    if not is_known(at):
        raise Invalid("a time lies between 1970 and 9000, as UTC has it")


def check_payload(payload: Any) -> None:
    """Refuse payloads that do not belong into a row."""
    if payload is msgspec.UNSET:
        return
    try:
        text = _encode(payload)
    except RecursionError as error:
        raise Invalid(TOO_DEEP) from error
    if len(text) > LARGEST_PAYLOAD:
        raise Invalid(f"a payload has at most {LARGEST_PAYLOAD} bytes")
    if text.count(b"{") + text.count(b"[") > DEEPEST_PAYLOAD and _is_deep(payload):
        raise Invalid(TOO_DEEP)
    if b"\\u0000" in text and _holds_nul(payload):  # no row in clear can hold it, so none may that is sealed
        raise Invalid("a payload holds no NUL")


def _is_deep(payload: Any) -> bool:
    level = [payload]
    for _ in range(DEEPEST_PAYLOAD):
        level = [inner for one in level for inner in _inside(one)]
    return any(isinstance(one, dict | list) for one in level)


def _inside(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()


def _holds_nul(value: Any) -> bool:
    match value:
        case str():
            return "\0" in value
        case dict():
            return any(_holds_nul(part) for pair in value.items() for part in pair)
        case list() | tuple():
            return any(map(_holds_nul, value))
    return False


def stale(ledger: Ledger | None, version: int | None) -> bool:
    """Whether an event came after a newer, or the same, one. Without versions nothing is stale."""
    return (
        ledger is not None
        and version is not None
        and ledger.intent_version is not None
        and version <= ledger.intent_version
    )


def decide(known: Known, intent: Intent, after_success: AfterSuccess = AfterSuccess.IGNORE) -> Change:
    """What a new time means for a business key."""
    if stale(known.ledger, intent.version):
        return Ignore(IgnoreReason.STALE)
    if known.live is not None:
        return _change_live(known.live, intent.at)
    if known.ledger is None:
        return Create(after=0, at=intent.at)
    if known.ledger.outcome == State.SUCCESS and after_success is AfterSuccess.IGNORE:
        return Ignore(IgnoreReason.SUCCEEDED)
    return Create(after=known.ledger.generation, at=intent.at)


def _change_live(live: Instance, at: datetime) -> Change:
    match live.state:
        case State.INIT | State.FAIL | State.BLOCKED:
            return Move(live, at)
        case State.RUNNING:
            return Replace(live, at)
        case State.SUCCESS | State.DEAD | State.CANCELLED | State.SKIPPED:
            raise AssertionError(f"a live row in the final state {live.state}")
        case other:
            assert_never(other)


def decide_cancel(known: Known, version: int | None = None) -> Cancel | Ignore:
    """What "no longer wanted" means for a business key."""
    if stale(known.ledger, version):
        return Ignore(IgnoreReason.STALE)
    if known.live is None:
        return Ignore(IgnoreReason.NOT_LIVE)
    return Cancel(known.live)


_encode = msgspec.json.Encoder().encode
