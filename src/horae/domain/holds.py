"""Holds: what a node says about the calls it holds back: at which gate, why, since when, and how many wait.

A gate is a target, or a limit that nodes share. Whoever looks at an instance computes the names of its gates from its
job, and finds the holds by them.
"""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import Final, NamedTuple
from uuid import UUID

import msgspec
from msgspec.structs import replace

from horae.domain.admission import HoldReason
from horae.domain.instances import Lane
from horae.domain.jobs import Definition
from horae.domain.lifecycle import State
from horae.domain.limits import key_name
from horae.domain.names import fitted
from horae.domain.targets import PUSHED

WAITING: Final = frozenset({State.INIT, State.FAIL})
PRECEDENCE: Final = (
    HoldReason.BREAKER,
    HoldReason.RETRY_BUDGET,
    HoldReason.TARGET_CAP,
    HoldReason.CONCURRENCY,
    HoldReason.RATE,
)
"""A call meets its target's gate first; of several holds the one it meets first is told."""
MAX_SHOWN_CHARACTERS: Final = 500
WORTH_A_ROW: Final = 0.1
"""The part by which the number of waiting calls must have changed before a row is written again."""


class GateKind(StrEnum):
    """What holds calls back."""

    TARGET = "TARGET"
    LIMIT = "LIMIT"


class HeldLane(StrEnum):
    """Which calls a gate holds back: first attempts and backfills, retries, or any."""

    FIRST = "FIRST"
    RETRY = "RETRY"
    ANY = "ANY"


class GateName(NamedTuple):
    """A target by its URL, or a limit by the name under which nodes share it."""

    kind: GateKind
    name: str

    @property
    def digest(self) -> bytes:
        """What a gate is found by, however long its name is."""
        return sha256(f"{self.kind}/{self.name}".encode()).digest()

    @property
    def shown(self) -> str:
        """Its name as it is written down."""
        return fitted(self.name, MAX_SHOWN_CHARACTERS)


class Hold(msgspec.Struct, frozen=True, kw_only=True):
    """What one gate holds back of one tenant. `next_try_at`: None where it waits for a place and not for a time."""

    tenant_id: UUID
    gate: GateName
    lane: HeldLane
    reason: HoldReason
    since: datetime
    waiting: int
    next_try_at: datetime | None = None

    def differs(self, before: "Hold | None") -> bool:
        """Whether this is worth writing after what was written before."""
        if before is None or (self.reason, self.since, self.next_try_at) != (
            before.reason,
            before.since,
            before.next_try_at,
        ):
            return True
        return abs(self.waiting - before.waiting) > WORTH_A_ROW * before.waiting


def gates_of(job_id: UUID, definition: Definition) -> list[GateName]:
    """Every gate that a call of a job may wait at; none where workers come for it."""
    target = definition.target
    if not isinstance(target, PUSHED):
        return []
    quotas = [key_name("quota", name) for name in definition.quotas]
    limits = ["tenant", key_name("job", job_id), *quotas, key_name("target", target.url)]
    return [GateName(GateKind.TARGET, target.url), *(GateName(GateKind.LIMIT, name) for name in limits)]


def merge(holds: Iterable[Hold], now: datetime) -> list[Hold]:
    """Holds of several nodes and cells added up, most waiting first. A try that lies in the past is not to come."""
    found: dict[tuple[GateName, HeldLane, HoldReason], Hold] = {}
    for hold in holds:
        ahead = hold.next_try_at if hold.next_try_at is not None and hold.next_try_at > now else None
        key, other = (hold.gate, hold.lane, hold.reason), replace(hold, next_try_at=ahead)
        found[key] = _add(found[key], other) if key in found else other
    return sorted(found.values(), key=lambda hold: (-hold.waiting, hold.gate, hold.lane, hold.reason))


def is_waiting(state: State, due_at: datetime, now: datetime) -> bool:
    """Whether an instance could have been tried by now and was not."""
    return state in WAITING and due_at <= now


def hold_of(lane: int, holds: Iterable[Hold]) -> Hold | None:
    """What an instance of a lane waits for, of the holds at its gates."""
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
