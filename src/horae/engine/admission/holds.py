"""What gates hold back, gathered in rounds: the work of a round is bounded, whatever the number of gates.

1. A gate that closes is watched. A round looks at the gates it told of last time and at some of the others, tenants in
   turn, and goes on there the next time.
2. Of what it finds it tells the holds with most waiting: some of each tenant, and each tenant's largest before
   anybody's second. So a tenant with thousands of closed gates hides no other tenant's.
3. A hold is told when the first call in it has been held for more than a moment. It is over when it was not found in
   two rounds, or when nobody waits: a gate may open for one call just when it is looked at.
"""

from collections import deque
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final, NamedTuple
from uuid import UUID

from msgspec.structs import replace

from horae.domain.admission import HoldReason
from horae.domain.holds import GateKind, GateName, HeldLane, Hold
from horae.domain.targets import PUSHED
from horae.engine.admission.flow import Flow
from horae.engine.admission.limited import LimitQueue
from horae.engine.admission.ready import Desk
from horae.engine.admission.target import Target

MIN_HELD_S: Final = 2.0
"""Seconds for which a call must have been held before its gate is told of."""
MAX_HOLDS: Final = 1000
MAX_HOLDS_PER_TENANT: Final = 100
GATES_EXPLORED: Final = 256
GATES_PER_TURN: Final = 8
Gate = Target | LimitQueue


class HoldKey(NamedTuple):
    """What a hold is about: the calls of a lane at a gate, for one desk."""

    desk: Desk
    tenant_id: UUID
    gate: GateName
    lane: HeldLane


class DeskHold(NamedTuple):
    """A hold, and the desk whose calls wait in it."""

    desk: Desk
    hold: Hold


class FoundHold(NamedTuple):
    """A hold with the gate it was found at."""

    gate: Gate
    hold: Hold


class WatchedGates:
    """The gates that may hold something back, tenants in turn."""

    def __init__(self) -> None:
        self._known: set[Gate] = set()
        self._of: dict[UUID, deque[Gate]] = {}
        self._ring: deque[UUID] = deque()

    def add(self, tenant_id: UUID, gate: Gate) -> None:
        """Come by here in later rounds."""
        if gate in self._known:
            return
        self._known.add(gate)
        gates = self._of.get(tenant_id)
        if gates is None:
            gates = self._of[tenant_id] = deque()
            self._ring.append(tenant_id)
        gates.append(gate)

    def next(self, most: int) -> list[Gate]:
        """The next few gates that hold something back; those that hold nothing are watched no more."""
        found: list[Gate] = []
        left = min(most, len(self._known))
        while left > 0 and self._ring:
            tenant_id = self._ring.popleft()
            gates = self._of[tenant_id]
            turn = min(GATES_PER_TURN, left, len(gates))
            left -= turn
            for _ in range(turn):
                gate = gates.popleft()
                if _holds_anyone(gate):
                    gates.append(gate)
                    found.append(gate)
                else:
                    self._known.discard(gate)
            if gates:
                self._ring.append(tenant_id)
            else:
                del self._of[tenant_id]
        return found

    def clear(self) -> None:
        """Watch nothing any more."""
        self._known.clear()
        self._of.clear()
        self._ring.clear()


class HoldBook:
    """What was told last, and what is watched."""

    def __init__(self) -> None:
        self._watched = WatchedGates()
        self._told: dict[HoldKey, FoundHold] = {}
        self._doubted: set[HoldKey] = set()
        self.watch = self._watched.add

    def collect(self, now: float, wall: float) -> list[DeskHold]:
        """The holds to tell of now; gates count in ticks, what is told is wall time."""
        gates = dict.fromkeys(found.gate for found in self._told.values())
        gates.update(dict.fromkeys(self._watched.next(GATES_EXPLORED)))
        found = {key: FoundHold(gate, hold) for gate in gates for key, hold in _holds_at(gate, now, wall - now)}
        for key, told in self._told.items():
            if key in found:
                found[key] = _continued(told, found[key])
        doubted = {
            key: told
            for key, told in self._told.items()
            if key not in found and key not in self._doubted and _anyone_waits(told.gate)
        }
        self._doubted = set(doubted)
        self._told = _chosen(found | doubted)
        return [DeskHold(key.desk, told.hold) for key, told in self._told.items()]

    def clear(self) -> None:
        """Nobody waits any more."""
        self._watched.clear()
        self._told.clear()
        self._doubted.clear()


def _continued(told: FoundHold, found: FoundHold) -> FoundHold:
    """A hold goes on for the same reason: it began when it was first found. A breaker knows that itself."""
    if found.hold.reason == HoldReason.BREAKER or found.hold.reason is not told.hold.reason:
        return found
    return FoundHold(found.gate, replace(found.hold, since=told.hold.since))


def _chosen(found: dict[HoldKey, FoundHold]) -> dict[HoldKey, FoundHold]:
    """At most so many, those with most waiting first; each tenant's largest before anybody's second."""
    if len(found) <= MAX_HOLDS_PER_TENANT:
        return found
    ranks: dict[UUID, int] = {}
    ranked: list[tuple[int, int, HoldKey]] = []
    for key in sorted(found, key=lambda key: -found[key].hold.waiting):
        rank = ranks[key.tenant_id] = ranks.get(key.tenant_id, 0) + 1
        if rank <= MAX_HOLDS_PER_TENANT:
            ranked.append((rank, -found[key].hold.waiting, key))
    ranked.sort(key=lambda entry: entry[:2])
    return {key: found[key] for _, _, key in ranked[:MAX_HOLDS]}


def _holds_anyone(gate: Gate) -> bool:
    return bool(gate.closed) if isinstance(gate, Target) else bool(gate)


def _anyone_waits(gate: Gate) -> bool:
    """Whether someone waits at a gate, held back or just let through."""
    return any(gate.flows.values()) if isinstance(gate, Target) else bool(gate)


def _holds_at(gate: Gate, now: float, shift_s: float) -> Iterator[tuple[HoldKey, Hold]]:
    return _holds_at_target(gate, now, shift_s) if isinstance(gate, Target) else _holds_at_limit(gate, now, shift_s)


def _holds_at_target(target: Target, now: float, shift_s: float) -> Iterator[tuple[HoldKey, Hold]]:
    """One for each desk and lane: a target has at most nine flows for each desk."""
    groups: dict[tuple[Desk, bool], list[Flow]] = {}
    for flow in target.closed:
        if flow:
            groups.setdefault((flow.desk, flow.is_retry), []).append(flow)
    for (desk, is_retry), flows in groups.items():
        held_s = max(flow.first_held_s(now) for flow in flows)
        if held_s < MIN_HELD_S:
            continue
        flow, reason = flows[0], target.reason_for(flows[0])
        opened_at, until = target.breaker.opened_at, target.breaker.until
        made = flow.first().job.definition.target
        assert isinstance(made, PUSHED)
        name = GateName(GateKind.TARGET, made.url)
        lane = HeldLane.RETRY if is_retry else HeldLane.FIRST
        yield (
            HoldKey(desk, flow.tenant, name, lane),
            Hold(
                tenant_id=flow.tenant,
                gate=name,
                lane=lane,
                reason=reason,
                since=_moment(shift_s + (now - held_s if opened_at is None else opened_at)),
                waiting=sum(map(len, flows)),
                next_try_at=None if until is None or until <= now else _moment(shift_s + until),
            ),
        )


def _holds_at_limit(queue: LimitQueue, now: float, shift_s: float) -> Iterator[tuple[HoldKey, Hold]]:
    """One for each desk."""
    if not queue or (held_s := queue.first_held_s(now)) < MIN_HELD_S:
        return
    name = GateName(GateKind.LIMIT, queue.key.name)
    for desk, waiting in queue.waiting.items():
        if waiting:
            yield (
                HoldKey(desk, queue.key.tenant_id, name, HeldLane.ANY),
                Hold(
                    tenant_id=queue.key.tenant_id,
                    gate=name,
                    lane=HeldLane.ANY,
                    reason=queue.reason,
                    since=_moment(shift_s + now - held_s),
                    waiting=waiting,
                ),
            )


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
