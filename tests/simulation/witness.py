"""Sees every write that the database accepted, and every call that was sent, and knows what may follow what.

It is no store: it never answers anybody. It remembers of each instance the state and the token it was last given,
and objects when a write was accepted that names another one.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from horae.domain.instances.instances import Instance

LEGAL = {
    None: {"INIT", "RUNNING", "BLOCKED"},
    "INIT": {"INIT", "RUNNING", "CANCELLED"},
    "BLOCKED": {"BLOCKED", "INIT", "CANCELLED"},
    "RUNNING": {"RUNNING", "SUCCESS", "FAIL", "DEAD", "CANCELLED", "SKIPPED", "INIT"},
    "FAIL": {"FAIL", "RUNNING", "CANCELLED"},
}


class Seen(NamedTuple):
    """One write that took effect: which instance, what it became, under which token, and the token it showed."""

    id: UUID
    state: str
    attempt: int | None = None
    token: UUID | None = None
    shown: tuple[int, UUID] | None = None


class Witness:
    """What happened to the instances of one seed."""

    def __init__(self, now: Callable[[], datetime], object_: Callable[[str], None]) -> None:
        self.now = now
        self.object = object_
        self.states: dict[UUID, str] = {}
        self.refused = 0
        self.sends = 0
        self._held: dict[UUID, tuple[int, UUID]] = {}
        self._sent: set[tuple[UUID, UUID]] = set()
        self._pending: list[Seen] = []

    def saw(self, name: str, args: Sequence[Any], result: Any) -> None:
        """A statement was run; what it did counts from its commit on."""
        read = READERS.get(name)
        if read is not None:
            found = list(read(args, result))
            self._pending += found
            if name in SHOWING:
                self.refused += len(args[1]) - len(found)

    def roll_back(self) -> None:
        self._pending.clear()

    def commit(self) -> None:
        for seen in self._pending:
            self._take(seen)
        self._pending.clear()

    def sent(self, ran: Instance) -> None:
        """A call leaves a node."""
        self.sends += 1
        assert ran.token is not None
        if self.now() < ran.due_at:
            self.object(f"early: {ran.id} was sent at {self.now()}, due at {ran.due_at}")
        if (ran.id, ran.token) in self._sent:
            self.object(f"twice: {ran.id} attempt {ran.attempt} was sent again under the same token")
        self._sent.add((ran.id, ran.token))

    def _take(self, seen: Seen) -> None:
        before = self.states.get(seen.id)
        if seen.state not in LEGAL.get(before, set()):
            self.object(f"illegal: {seen.id} went from {before} to {seen.state}")
        if seen.shown is not None and seen.shown != self._held.get(seen.id):
            self.object(f"old token: {seen.id} was written to with {seen.shown}, it is {self._held.get(seen.id)}")
        self.states[seen.id] = seen.state
        if seen.state == "RUNNING":
            if seen.token is not None and seen.attempt is not None:
                self._held[seen.id] = (seen.attempt, seen.token)
        else:
            self._held.pop(seen.id, None)


def _fired(args: Sequence[Any], result: Any) -> Iterator[Seen]:
    born = {row["id"] for row in result}
    for id_, token in zip(_uuids(args[5]), _column(args[8]), strict=True):
        if id_ in born:
            yield Seen(id_, "RUNNING" if token else "INIT", 1, UUID(token) if token else None)


def _fired_alone(args: Sequence[Any], result: Any) -> Iterator[Seen]:
    if result is not None:
        yield Seen(args[5], str(args[14]), 1, args[8])


def _walked(args: Sequence[Any], result: Any) -> Iterator[Seen]:
    moved = {row["job_id"] for row in result}
    return (Seen(id_, "INIT") for job_id, id_ in zip(args[6], args[7], strict=True) if job_id in moved)


def _claimed(_args: Sequence[Any], result: Any) -> Iterator[Seen]:
    return (Seen(row["id"], "RUNNING", row["attempt"], row["token"]) for row in result)


def _handed_out(args: Sequence[Any], result: Any) -> Iterator[Seen]:
    return (Seen(row["id"], "RUNNING", row["attempt"], args[6]) for row in result)


def _settled(state_at: int | None) -> Callable[[Sequence[Any], Any], Iterator[Seen]]:
    def read(args: Sequence[Any], result: Any) -> Iterator[Seen]:
        done = {row["id"] for row in result}
        attempts, tokens = _column(args[2]), _uuids(args[3])
        for n, id_ in enumerate(_uuids(args[1])):
            if id_ in done:
                state = "RUNNING" if state_at is None else _column(args[state_at])[n]
                yield Seen(id_, state, shown=(attempts[n], tokens[n]))

    return read


def _succeeded(args: Sequence[Any], result: Any) -> Iterator[Seen]:
    done = {row["id"] for row in result}
    return (
        Seen(id_, "SUCCESS", shown=(attempt, token))
        for id_, attempt, token in zip(_uuids(args[1]), _column(args[2]), _uuids(args[3]), strict=True)
        if id_ in done
    )


def _column(column: Any) -> list[Any]:
    """A column of a batch, which goes to PostgreSQL as a list or as the text of an array."""
    return json.loads(f"[{column[1:-1]}]") if isinstance(column, str) else list(column)


def _uuids(column: Any) -> list[UUID]:
    return [value if isinstance(value, UUID) else UUID(value) for value in _column(column)]


def _one(position: int, state: str | None) -> Callable[[Sequence[Any], Any], Iterator[Seen]]:
    def read(args: Sequence[Any], result: Any) -> Iterator[Seen]:
        if result is not None and state is not None:
            yield Seen(args[position], state)

    return read


def _replaced(args: Sequence[Any], result: Any) -> Iterator[Seen]:
    if result is not None:
        yield Seen(args[4], "CANCELLED")
        yield Seen(args[5], "INIT")


def _each(state: str) -> Callable[[Sequence[Any], Any], Iterator[Seen]]:
    return lambda _args, result: (Seen(row["id"], state) for row in result)


def _displaced(args: Sequence[Any], _result: Any) -> Iterator[Seen]:
    return (Seen(id_, "CANCELLED") for id_ in args[1])


READERS: dict[str, Callable[[Sequence[Any], Any], Iterator[Seen]]] = {
    "schedules/cursors/fire": _fired,
    "schedules/cursors/fire_exclusive": _fired_alone,
    "schedules/cursors/walk": _walked,
    "instances/instances/claim": _claimed,
    "workers/workers/claim": _handed_out,
    "instances/instances/end": _settled(5),
    "instances/instances/succeed": _succeeded,
    "instances/instances/retry_later": _settled(5),
    "instances/instances/extend": _settled(None),
    "workers/workers/heartbeat": _settled(None),
    "tasks/tasks/create": _one(5, "INIT"),
    "tasks/tasks/replace": _replaced,
    "tasks/tasks/cancel": _one(4, "CANCELLED"),
    "instances/instances/displace": _displaced,
    "instances/instances/release": _each("INIT"),
    "instances/instances/cancel_waiting": _each("CANCELLED"),
}
SHOWING = {
    "instances/instances/end",
    "instances/instances/succeed",
    "instances/instances/retry_later",
    "instances/instances/extend",
}
