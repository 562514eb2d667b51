"""Collects holds (the calls that gates hold back) in rounds. The work of a round is bounded, however many gates exist.

1. A gate that closes is watched. A round looks at the gates it reported last time and at some of the others, tenants in
   turn. The next round continues there.
2. Of the holds it finds, a round reports the ones with most waiting calls: a bounded number per tenant, and the largest
   hold of each tenant before the second of any tenant. So thousands of closed gates of one tenant hide no other tenant.
3. A hold is reported when its first call has been held for more than 2 s. It is over when two rounds did not find it,
   or when no call waits at the gate. One round is not enough: a gate may open for one call just when it is looked at.
"""

from collections import deque
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final, NamedTuple
from uuid import UUID

from msgspec.structs import replace

from horae.domain.limits.hold_reasons import HoldReason
from horae.domain.limits.holds import GateKind, GateName, HeldLane, Hold
from horae.domain.targets.targets import PUSHED
from horae.engine.admission.limited import LimitQueue
from horae.engine.admission.target import CallDispatcher, Flow, Target

MIN_HELD_S: Final = 2.0
"""Seconds for which the first call must have been held before a hold is reported."""
MAX_HOLDS: Final = 1000
MAX_HOLDS_PER_TENANT: Final = 100
GATES_EXPLORED: Final = 256
GATES_PER_TURN: Final = 8
Gate = Target | LimitQueue


class HoldKey(NamedTuple):
    """Identifies a hold: the calls of a lane at a gate, for one dispatcher."""

    dispatcher: CallDispatcher
    tenant_id: UUID
    gate: GateName
    lane: HeldLane


class DispatcherHold(NamedTuple):
    """A hold, and the dispatcher whose calls wait in it."""

    dispatcher: CallDispatcher
    hold: Hold


class FoundHold(NamedTuple):
    """A hold with the gate it was found at."""

    gate: Gate
    hold: Hold


class WatchedGates:
    """The gates that may hold calls back, visited tenant by tenant."""

    def __init__(self) -> None:
        self._known: set[Gate] = set()
        self._of: dict[UUID, deque[Gate]] = {}
        self._ring: deque[UUID] = deque()

    def add(self, tenant_id: UUID, gate: Gate) -> None:
        """Visit this gate in later rounds."""
        if gate in self._known:
            return
        self._known.add(gate)
        gates = self._of.get(tenant_id)
        if gates is None:
            gates = self._of[tenant_id] = deque()
            self._ring.append(tenant_id)
        gates.append(gate)

    def next(self, most: int) -> list[Gate]:
        """The next gates that hold calls back. Gates without a waiting call are no longer watched."""
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
        """Forget all gates."""
        self._known.clear()
        self._of.clear()
        self._ring.clear()


class HoldBook:
    """The holds that were reported last, and the gates that are watched."""

    def __init__(self) -> None:
        self._watched = WatchedGates()
        self._reported: dict[HoldKey, FoundHold] = {}
        self._doubted: set[HoldKey] = set()
        self.watch = self._watched.add

    def collect(self, now: float, wall: float) -> list[DispatcherHold]:
        """The holds to report now. Gates count in ticks (`now`), reports use wall time (`wall`)."""
        gates = dict.fromkeys(found.gate for found in self._reported.values())
        gates.update(dict.fromkeys(self._watched.next(GATES_EXPLORED)))
        found = {key: FoundHold(gate, hold) for gate in gates for key, hold in _holds_at(gate, now, wall - now)}
        for key, reported in self._reported.items():
            if key in found:
                found[key] = _with_reported_start(reported, found[key])
        doubted = {
            key: reported
            for key, reported in self._reported.items()
            if key not in found and key not in self._doubted and _anyone_waits(reported.gate)
        }
        self._doubted = set(doubted)
        self._reported = _select_holds(found | doubted)
        return [DispatcherHold(key.dispatcher, reported.hold) for key, reported in self._reported.items()]

    def clear(self) -> None:
        """Forget all holds and gates."""
        self._watched.clear()
        self._reported.clear()
        self._doubted.clear()


def _with_reported_start(reported: FoundHold, found: FoundHold) -> FoundHold:
    """The hold with the start of the reported one, if the reason is the same. A sick target knows its own start."""
    if found.hold.reason in (HoldReason.BREAKER, HoldReason.NO_ANSWER) or found.hold.reason is not reported.hold.reason:
        return found
    return FoundHold(found.gate, replace(found.hold, since=reported.hold.since))


def _select_holds(found: dict[HoldKey, FoundHold]) -> dict[HoldKey, FoundHold]:
    """The holds with most waiting calls, bounded; the largest of each tenant before the second of any tenant."""
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
    """Whether a call waits at a gate: held back, or for its turn after the gate has opened."""
    return any(gate.flows.values()) if isinstance(gate, Target) else bool(gate)


def _holds_at(gate: Gate, now: float, shift_s: float) -> Iterator[tuple[HoldKey, Hold]]:
    return _holds_at_target(gate, now, shift_s) if isinstance(gate, Target) else _holds_at_limit(gate, now, shift_s)


def _holds_at_target(target: Target, now: float, shift_s: float) -> Iterator[tuple[HoldKey, Hold]]:
    """One hold per dispatcher and lane: a target has at most nine flows per dispatcher."""
    groups: dict[tuple[CallDispatcher, bool], list[Flow]] = {}
    for flow in target.closed:
        if flow:
            groups.setdefault((flow.dispatcher, flow.is_retry), []).append(flow)
    for (dispatcher, is_retry), flows in groups.items():
        held_s = max(flow.first_held_s(now) for flow in flows)
        if held_s < MIN_HELD_S:
            continue
        flow, reason = flows[0], target.reason_for(flows[0])
        began_at = target.breaker.opened_at
        if reason == HoldReason.TARGET_CAP and target.is_silent(now):
            reason, began_at = HoldReason.NO_ANSWER, target.heard_at
        until = target.breaker.until
        made = flow.first().job.definition.target
        assert isinstance(made, PUSHED)
        name = GateName(GateKind.TARGET, made.url)
        lane = HeldLane.RETRY if is_retry else HeldLane.FIRST
        yield (
            HoldKey(dispatcher, flow.tenant, name, lane),
            Hold(
                tenant_id=flow.tenant,
                gate=name,
                lane=lane,
                reason=reason,
                since=_moment(shift_s + (now - held_s if began_at is None else began_at)),
                waiting=sum(map(len, flows)),
                next_try_at=None if until is None or until <= now else _moment(shift_s + until),
            ),
        )


def _holds_at_limit(queue: LimitQueue, now: float, shift_s: float) -> Iterator[tuple[HoldKey, Hold]]:
    """One hold per dispatcher."""
    if not queue or (held_s := queue.first_held_s(now)) < MIN_HELD_S:
        return
    name = GateName(GateKind.LIMIT, queue.key.name)
    for dispatcher, waiting in queue.waiting.items():
        if waiting:
            yield (
                HoldKey(dispatcher, queue.key.tenant_id, name, HeldLane.ANY),
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
