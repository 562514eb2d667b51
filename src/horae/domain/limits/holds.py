"""Holds: what a node reports about calls that it holds back: at which gate, why, since when, and how many wait.

A gate is a target, or a limit that nodes share. The gates of an instance follow from its job; its holds are found by
the names of these gates.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import Final, NamedTuple
from uuid import UUID

import msgspec
from msgspec.structs import replace

from horae.domain.instances.instances import Lane, Priority
from horae.domain.instances.lifecycle import State
from horae.domain.jobs.jobs import Definition
from horae.domain.limits.hold_reasons import HoldReason
from horae.domain.limits.limits import key_name
from horae.domain.measures.measures import MeasureName
from horae.domain.names import fit_length
from horae.domain.targets.targets import PUSHED

WAITING: Final = frozenset({State.INIT, State.FAIL})
"""States of an instance that can wait at a gate."""
PRECEDENCE: Final = (
    HoldReason.MEASURE,
    HoldReason.BREAKER,
    HoldReason.NO_ANSWER,
    HoldReason.RETRY_BUDGET,
    HoldReason.TARGET_CAP,
    HoldReason.NO_SLOT,
    HoldReason.CONCURRENCY,
    HoldReason.RATE,
)
"""The order of the gates: measures come first, then a target. Of several holds the first one is reported."""
WITHHOLDING_MEASURES: Final = (MeasureName.DLQ_GROWTH_RATE, MeasureName.TRIGGER_DELAY_P95)
"""The measures that hold calls back."""
MAX_NAME_CHARACTERS: Final = 500
MIN_WRITTEN_CHANGE_SHARE: Final = 0.1
"""The relative change of the number of waiting calls that is worth another write."""


LISTED_DIGEST_BYTES: Final = 5
"""Bytes by which a hold of the first page is remembered: 200 of them have to fit into a cursor. That another one of
5,000 has the same bytes happens once in a million lists."""


class GateKind(StrEnum):
    """What holds calls back."""

    TARGET = "TARGET"
    LIMIT = "LIMIT"
    MEASURE = "MEASURE"


class HeldLane(StrEnum):
    """Which calls a gate holds back: first attempts and backfills, retries, or all."""

    FIRST = "FIRST"
    RETRY = "RETRY"
    ANY = "ANY"


class GateName(NamedTuple):
    """A target by its URL, a limit by the name under which nodes share it, or a measure with a priority."""

    kind: GateKind
    name: str

    @property
    def digest(self) -> bytes:
        """The key of a gate's row, whatever the length of its name."""
        return sha256(f"{self.kind}/{self.name}".encode()).digest()

    @property
    def display_name(self) -> str:
        """The name in the length that a row stores."""
        return fit_length(self.name, MAX_NAME_CHARACTERS)


class Hold(msgspec.Struct, frozen=True, kw_only=True):
    """The calls of one tenant that one gate holds back. Calls that wait for a place have no `next_try_at`."""

    tenant_id: UUID
    gate: GateName
    lane: HeldLane
    reason: HoldReason
    since: datetime
    waiting: int
    next_try_at: datetime | None = None

    @property
    def place(self) -> bytes:
        """Where it stands in a list that does not move: by a digest of what it is, not of how many wait."""
        return sha256(f"{self.gate.kind}/{self.lane}/{self.reason}/{self.gate.name}".encode()).digest()[:8]

    def differs(self, before: "Hold | None") -> bool:
        """Whether this hold is worth writing after the one written before."""
        if before is None or (self.reason, self.since, self.next_try_at) != (
            before.reason,
            before.since,
            before.next_try_at,
        ):
            return True
        return abs(self.waiting - before.waiting) > MIN_WRITTEN_CHANGE_SHARE * before.waiting


def gates_of(job_id: UUID, definition: Definition) -> list[GateName]:
    """Return every gate that a call of a job may wait at; none for a job whose calls workers claim."""
    target = definition.target
    if not isinstance(target, PUSHED):
        return []
    quotas = [key_name("quota", name) for name in definition.quotas]
    limits = ["tenant", key_name("job", job_id), *quotas, key_name("target", target.url)]
    measures = [measure_gate_name(name, definition.priority) for name in WITHHOLDING_MEASURES]
    return [
        GateName(GateKind.TARGET, target.url),
        *(GateName(GateKind.LIMIT, name) for name in limits),
        *(GateName(GateKind.MEASURE, name) for name in measures),
    ]


def measure_gate_name(name: MeasureName, priority: Priority) -> str:
    """Return the name of a measure as a gate for the calls of one priority."""
    return f"{name}/{priority.name.lower()}"


def merge(holds: Iterable[Hold], now: datetime) -> list[Hold]:
    """Add up the holds of several nodes and cells, most waiting first. A `next_try_at` in the past is dropped."""
    found: dict[tuple[GateName, HeldLane, HoldReason], Hold] = {}
    for hold in holds:
        ahead = hold.next_try_at if hold.next_try_at is not None and hold.next_try_at > now else None
        key, other = (hold.gate, hold.lane, hold.reason), replace(hold, next_try_at=ahead)
        found[key] = _add(found[key], other) if key in found else other
    return sorted(found.values(), key=lambda hold: (-hold.waiting, hold.gate, hold.lane, hold.reason))


class HoldMark(NamedTuple):
    """The end of a page of holds: the holds of the first page, and the last place of a later page."""

    first: bytes
    last: bytes = b""


def page(holds: Sequence[Hold], after: HoldMark | None, take: int) -> list[Hold]:
    """Return a page of merged holds. No hold that lasts is missed or repeated, however many calls wait meanwhile.

    1. The first page has the holds with most waiting calls.
    2. Later pages have all others, by their places.
    """
    if after is None:
        return list(holds[:take])
    first, width = after.first, LISTED_DIGEST_BYTES
    listed = {first[start : start + width] for start in range(0, len(first), width)}
    rest = [hold for hold in holds if hold.place[:width] not in listed and hold.place > after.last]
    return sorted(rest, key=lambda hold: hold.place)[:take]


def mark(holds: Sequence[Hold], after: HoldMark | None) -> HoldMark:
    """Return the end of a page that began after a mark."""
    if after is None:
        return HoldMark(b"".join(hold.place[:LISTED_DIGEST_BYTES] for hold in holds))
    return HoldMark(after.first, holds[-1].place)


def is_waiting(state: State, due_at: datetime, now: datetime) -> bool:
    """Whether an instance is due and was not tried yet."""
    return state in WAITING and due_at <= now


def hold_of(lane: int, holds: Iterable[Hold]) -> Hold | None:
    """Return the hold that an instance of a lane waits for, of all holds at its gates."""
    own = HeldLane.RETRY if lane == Lane.RETRY else HeldLane.FIRST
    matching = [hold for hold in holds if hold.lane in (own, HeldLane.ANY)]
    return min(matching, key=lambda hold: PRECEDENCE.index(hold.reason), default=None)


def _add(one: Hold, other: Hold) -> Hold:
    tries = [at for at in (one.next_try_at, other.next_try_at) if at is not None]
    return replace(
        one,
        since=min(one.since, other.since),
        waiting=one.waiting + other.waiting,
        next_try_at=min(tries, default=None),
    )
