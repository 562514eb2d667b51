"""Tasks: what a new time means for a business key (seed 000).

1. A key has at most one live instance.
2. A waiting instance is moved in place. A running one is replaced and never moved.
3. A key that succeeded stays as it is, unless its type reopens keys. Any other key gets a new instance.
4. The caller reads, decides and writes. If the row changed in between, it reads and decides again: a lost race is never
   the end of a request.
"""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, assert_never
from uuid import UUID

import msgspec

from horae.domain.errors import Invalid
from horae.domain.instances.instances import Instance
from horae.domain.instances.lifecycle import State
from horae.domain.times import is_known

LONGEST_KEY: Final = 200
"""Characters."""
MAX_PAYLOAD_BYTES: Final = 64 * 1024
"""Bytes of its JSON."""
DEEPEST_PAYLOAD: Final = 32
"""Levels, the same as in a body of the API: payloads from topics and sources pass the same encoders."""
TOO_DEEP: Final = f"a payload may be nested {DEEPEST_PAYLOAD} levels deep"
OWN_KEY: Final = "self"
"""The business key of a once or delay job."""


class AfterSuccess(StrEnum):
    """What a new time means for a key that succeeded: nothing, or a new generation."""

    IGNORE = "ignore"
    REOPEN = "reopen"


class Decision(StrEnum):
    """What was done with an intent; the answer to every PUT."""

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
    """What the business wants: a time, optionally a new payload, optionally the version of its own event."""

    at: datetime
    payload: Any = msgspec.UNSET
    version: int | None = None


class Ledger(msgspec.Struct, frozen=True):
    """The permanent record of a key: it outlives its instances."""

    generation: int
    outcome: State | None
    intent_version: int | None
    revision: int
    instance_id: UUID


class KeyState(msgspec.Struct, frozen=True):
    """A key's live row and ledger, read by one statement."""

    live: Instance | None = None
    ledger: Ledger | None = None


class CreateDecision(msgspec.Struct, frozen=True):
    """Insert a new instance. `after` is the generation that the ledger must still have."""

    after: int
    at: datetime


class MoveDecision(msgspec.Struct, frozen=True):
    """Give the waiting instance a new time; id, retry_count and error_msg stay."""

    found: Instance
    at: datetime


class Replace(msgspec.Struct, frozen=True):
    """Cancel the running instance and insert a new one. The call in flight is never aborted."""

    found: Instance
    at: datetime


class Ignore(msgspec.Struct, frozen=True):
    """Change nothing, for a reason."""

    reason: IgnoreReason


class Cancel(msgspec.Struct, frozen=True):
    """End the live instance."""

    found: Instance


Change = CreateDecision | MoveDecision | Replace | Ignore


def check_key(business_key: str) -> None:
    """Refuse keys that cannot be printed or distinguished."""
    if not business_key or len(business_key) > LONGEST_KEY or not business_key.isprintable():
        raise Invalid(f"a business key is 1 to {LONGEST_KEY} printable characters")


def check_time(at: datetime | None) -> None:
    """Refuse times without an offset, and times out of range."""
    if at is None:
        return
    if at.tzinfo is None:
        raise Invalid("a time needs its offset, for example 2026-11-15T09:00:00+08:00")
    if not is_known(at):
        raise Invalid("a time lies between 1970 and 9000, as UTC has it")


def check_payload(payload: Any) -> None:
    """Refuse payloads that a row cannot hold: too large, too deep, or with NUL."""
    if payload is msgspec.UNSET:
        return
    try:
        text = _encode(payload)
    except RecursionError as error:
        raise Invalid(TOO_DEEP) from error
    if len(text) > MAX_PAYLOAD_BYTES:
        raise Invalid(f"a payload has at most {MAX_PAYLOAD_BYTES} bytes")
    if text.count(b"{") + text.count(b"[") > DEEPEST_PAYLOAD and _is_deep(payload):
        raise Invalid(TOO_DEEP)
    if b"\\u0000" in text and _holds_nul(payload):  # jsonb cannot hold NUL; encrypted payloads follow the same rule
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


def is_stale(ledger: Ledger | None, version: int | None) -> bool:
    """Whether an event has the same version as the ledger, or an older one. Without versions nothing is stale."""
    return (
        ledger is not None
        and version is not None
        and ledger.intent_version is not None
        and version <= ledger.intent_version
    )


def decide(known: KeyState, intent: Intent, after_success: AfterSuccess = AfterSuccess.IGNORE) -> Change:
    """Decide what a new time means for a business key.

    1. A stale version is ignored.
    2. A live instance is moved, or replaced if it runs.
    3. A key without a ledger gets its first instance.
    4. A key that succeeded is ignored, unless its type reopens keys.
    5. Any other key gets an instance of the next generation.
    """
    if is_stale(known.ledger, intent.version):
        return Ignore(IgnoreReason.STALE)
    if known.live is not None:
        return _change_live(known.live, intent.at)
    if known.ledger is None:
        return CreateDecision(after=0, at=intent.at)
    if known.ledger.outcome == State.SUCCESS and after_success is AfterSuccess.IGNORE:
        return Ignore(IgnoreReason.SUCCEEDED)
    return CreateDecision(after=known.ledger.generation, at=intent.at)


def _change_live(live: Instance, at: datetime) -> Change:
    match live.state:
        case State.INIT | State.FAIL | State.BLOCKED:
            return MoveDecision(live, at)
        case State.RUNNING:
            return Replace(live, at)
        case State.SUCCESS | State.DEAD | State.CANCELLED | State.SKIPPED:
            raise AssertionError(f"a live row in the final state {live.state}")
        case other:
            assert_never(other)


def decide_cancel(known: KeyState, version: int | None = None) -> Cancel | Ignore:
    """Decide what a cancellation means for a business key."""
    if is_stale(known.ledger, version):
        return Ignore(IgnoreReason.STALE)
    if known.live is None:
        return Ignore(IgnoreReason.NOT_LIVE)
    return Cancel(known.live)


_encode = msgspec.json.Encoder().encode
