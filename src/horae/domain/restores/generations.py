"""Judges whether a database is the cell of today, or a copy of its past.

A cell has a generation. Opening a restored cell raises it. The generation is recorded with the identity of the server:
the database cluster and its timeline. PostgreSQL begins a new timeline when a standby is promoted and when a restore
ends, so a new timeline alone does not tell which of them it was. A process that ran before the change can tell: its
last acknowledged heartbeat is there after a failover, and missing after a restore to an earlier time. It tells nothing
if the process had lost the cell before others did: then heartbeats of other nodes are there that are a lease younger.
"""

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID


class CellRecord(NamedTuple):
    """What a cell has recorded about itself."""

    generation: int
    cluster_id: int
    timeline: int
    closed_reason: str | None


class ServerFacts(NamedTuple):
    """What a server says about itself. `recovery_target` is empty unless its settings name one, as a restore's do."""

    cluster_id: int
    timeline: int
    recovery_target: str = ""


class NodeMark(NamedTuple):
    """The last heartbeat of a node that a cell has acknowledged."""

    incarnation: UUID
    seen_at: datetime


class ConnectionVerdict(StrEnum):
    """Whether a connection to a cell may be used."""

    ADMITTED = "admitted"
    MUST_FOLLOW = "must follow"
    """Only if the last heartbeat of this process is there, and no other is a lease younger: it records the timeline."""
    REFUSED = "refused"


class Judgement(NamedTuple):
    """A verdict, and why a connection is refused."""

    verdict: ConnectionVerdict
    reason: str = ""


def judge(record: CellRecord, server: ServerFacts, known: int | None, mark: NodeMark | None) -> Judgement:
    """Judge a new connection.

    `known` is the generation that this process has worked with, `mark` its last heartbeat there.

    1. A closed cell is refused.
    2. A cell of another generation than this process has worked with is refused: what it remembers may be gone.
    3. A cell on the server that it has recorded is admitted.
    4. After a promotion in the same database cluster, a process with a mark may follow, unless the server was given a
       target of recovery.
    5. Everything else is a restored cell that nobody has opened.
    """
    if record.closed_reason is not None:
        return Judgement(ConnectionVerdict.REFUSED, record.closed_reason)
    if known is not None and known != record.generation:
        return Judgement(
            ConnectionVerdict.REFUSED,
            f"the cell was restored and is of generation {record.generation} now: restart this process, which has "
            f"worked with generation {known}",
        )
    if (record.cluster_id, record.timeline) == (server.cluster_id, server.timeline):
        return Judgement(ConnectionVerdict.ADMITTED)
    reason = (
        f"this database was restored, or promoted while nobody watched (timeline {server.timeline}, recorded is "
        f"{record.timeline}): run `horae restore plan`"
    )
    promoted = record.cluster_id == server.cluster_id and server.timeline > record.timeline
    if promoted and mark is not None and not server.recovery_target:
        return Judgement(ConnectionVerdict.MUST_FOLLOW, reason)
    return Judgement(ConnectionVerdict.REFUSED, reason)


def is_outdated(generation: int, witnessed: int) -> bool:
    """Whether another cell has heard of a newer generation: then this database is the past of a restored cell."""
    return generation < witnessed
