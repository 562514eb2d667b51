"""Edges: a job starts after another job of its tenant has ended. The two need not share a definition.

An edge is a part of the job that starts (`after` in its definition), so it is written, versioned and removed with it.
"""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple
from uuid import UUID

import msgspec
from msgspec.structs import replace

from horae.domain.errors import CountReached, Invalid
from horae.domain.instances.lifecycle import State

MOST_EDGES: Final = 100
"""Edges of one tenant. Each costs a look at the tenant's ended instances in every cell."""


class EndKind(StrEnum):
    """The ends of an instance that an edge follows. What was cancelled or skipped starts nothing."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    ENDED = "ended"


STATES_OF: Final = {
    EndKind.SUCCEEDED: (State.SUCCESS,),
    EndKind.FAILED: (State.DEAD,),
    EndKind.ENDED: (State.SUCCESS, State.DEAD),
}


class After(msgspec.Struct, frozen=True, omit_defaults=True):
    """The job that another one starts after, and on which ends.

    Horae writes `edge_id` and `since` when the edge is made: ends before that time start nothing.
    """

    job: str
    on: EndKind = EndKind.SUCCEEDED
    edge_id: UUID | None = None
    since: datetime | None = None

    def declared(self) -> "After":
        """Return what a person has said."""
        return After(self.job, self.on)


class Edge(NamedTuple):
    """An edge as stored: `name` and `job_id` are of the job that it starts, a type of tasks if `is_keyed`."""

    id: UUID
    tenant_id: UUID
    name: str
    version: int
    job_id: UUID
    after: After
    is_keyed: bool


class EndedInstance(NamedTuple):
    """An ended instance that an edge follows, with the ledger of its business key as it is now.

    `is_latest`: no newer instance of the key was made. `version` is the newest version of the key's intents.
    """

    xid: int
    shard: int
    instance_id: UUID
    key: str | None
    fire_time: datetime
    due_at: datetime
    is_latest: bool
    version: int | None

    @property
    def intent_version(self) -> int | None:
        """The version that the task after it has: a newer intent for the same key is not overwritten.

        Where the key was scheduled again, the version of this instance is no longer known, but it is lower.
        """
        if self.version is None or self.is_latest:
            return self.version
        return max(self.version - 1, 0)


def marked(wanted: After | None, before: After | None, edge_id: UUID, now: datetime) -> After | None:
    """Return an edge as it is stored. One that stays keeps its id, and so its positions."""
    if wanted is None:
        return None
    if before is not None and before.declared() == wanted.declared():
        return before
    return replace(wanted, edge_id=edge_id, since=now)


def check_edge(name: str, after: After, *, is_keyed: bool, has_keys: bool, others: Mapping[str, str]) -> None:
    """Refuse an edge that could never start anything, or never stop.

    `is_keyed`: `name` is a type of tasks. `has_keys`: the instances of the other job have keys. `others` are the edges
    of the tenant: the job that each job starts after.
    """
    if is_keyed and not has_keys:
        raise Invalid(f"a type of tasks starts after a job whose instances have keys, and {after.job!r} has none")
    rest = {one: source for one, source in others.items() if one != name}
    if len(rest) >= MOST_EDGES:
        text = f"{len(rest)} jobs of the tenant start after another one, and {MOST_EDGES} may"
        raise CountReached(text, kind="edges", most=MOST_EDGES)
    circle = circle_of(name, rest | {name: after.job})
    if circle:
        raise Invalid(f"jobs would start each other without end: {circle_text(circle)}")


def circle_of(name: str, sources: Mapping[str, str]) -> list[str]:
    """Return the jobs of the circle that a job is in, each before the one that it starts after; empty if in none."""
    found, at = [name], sources.get(name)
    while at is not None and at != name and at not in found:
        found.append(at)
        at = sources.get(at)
    return found if at == name else []


def circle_text(circle: list[str]) -> str:
    """Return a circle for people, in the order in which the jobs start."""
    return " → ".join([circle[0], *reversed(circle)])
