"""The runs of graphs. A run is an instance of the graph's job, and a row that says how far its steps are."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import asyncpg

from horae.domain.graphs.runs import RunState
from horae.domain.placement import Run
from horae.store.arrays import plain
from horae.store.statements import sql
from horae.store.tx import Tx


class LeftOut(NamedTuple):
    """Tenants and graphs of which no run is read."""

    tenants: Collection[UUID]
    jobs: Collection[UUID]


class WaitingRun(NamedTuple):
    """A fire of a graph that no node has started."""

    shard: int
    id: UUID
    tenant_id: UUID
    job_id: UUID
    job_version: int
    fire_time: datetime


class OpenRun(NamedTuple):
    """A run that has not ended, with the token of its instance."""

    shard: int
    id: UUID
    tenant_id: UUID
    job_id: UUID
    job_version: int
    fire_time: datetime
    attempt: int
    token: UUID
    blocked: bool
    deadline_at: datetime


class StartingRun(NamedTuple):
    """A run to start. `undecided`: nodes have to decide about it before its first steps are released."""

    shard: int
    id: UUID
    deadline: datetime
    undecided: bool


class RunOfStep(NamedTuple):
    """An open run, and one of its steps whose instance has ended.

    `held_back`: no step of it is released at once, because its job is paused or a step of it is blocked.
    """

    shard: int
    id: UUID
    tenant_id: UUID
    job_id: UUID
    job_version: int
    fire_time: datetime
    position: int
    instance_id: UUID
    held_back: bool


class OverRun(NamedTuple):
    """A run whose instance has ended. `has_children`: children of it wait or are live."""

    shard: int
    id: UUID
    has_children: bool


class GraphRun(NamedTuple):
    """A run as people see it."""

    id: UUID
    job_id: UUID
    job_version: int
    fire_time: datetime
    started_at: datetime
    deadline_at: datetime
    ended_at: datetime | None
    state: RunState
    blocked: bool


async def waiting(tx: Tx, runs: Sequence[Run], without: LeftOut, limit: int) -> list[WaitingRun]:
    """Fires of graphs that are due and not started, in these shards; oldest first."""
    rows = await tx.rows(sql("graphs/runs/waiting"), *_bounds(runs), *map(list, without), tx.now, limit)
    return [WaitingRun(*row) for row in rows]


async def start(tx: Tx, starting: Sequence[StartingRun], token: UUID) -> dict[UUID, bool]:
    """Start runs; returns the ids of those that this call has started, and whether nodes have to decide about them.

    That is so as well for every run that was started before and goes on.
    """
    rows = await tx.rows(sql("graphs/runs/start"), *zip(*sorted(starting), strict=True), token, tx.now)
    return {row["id"]: row["stale"] for row in rows}


async def stale(tx: Tx, runs: Sequence[Run], without: LeftOut, limit: int) -> list[OpenRun]:
    """Open runs of which a step has changed; locked until the transaction ends."""
    rows = await tx.rows(sql("graphs/runs/stale"), *_bounds(runs), *map(list, without), limit)
    return [OpenRun(*row) for row in rows]


async def lock_of_steps(tx: Tx, ended: Sequence[tuple[int, UUID]]) -> list[RunOfStep]:
    """The open runs of the steps with these instances (shard and id), a row for each step; locked by this call."""
    rows = await tx.rows(sql("graphs/runs/lock_of_steps"), *map(plain, zip(*ended, strict=True)))
    return [RunOfStep(*row) for row in rows]


async def mark_stale(tx: Tx, places: Iterable[tuple[int, UUID]]) -> None:
    """Let nodes decide about runs (shard and id) that this transaction has locked."""
    await tx.rows(sql("graphs/runs/mark_stale"), *zip(*sorted(places), strict=True))


async def overdue(tx: Tx, runs: Sequence[Run], limit: int) -> list[OpenRun]:
    """Open runs past their deadline."""
    return [OpenRun(*row) for row in await tx.rows(sql("graphs/runs/overdue"), *_bounds(runs), tx.now, limit)]


async def decide(tx: Tx, decided: Sequence[tuple[int, UUID, bool]]) -> None:
    """Note for runs (shard, id) that their steps are decided about, and whether one of them is blocked."""
    await tx.rows(sql("graphs/runs/decide"), *zip(*decided, strict=True))


async def close(tx: Tx, runs: Sequence[Run], among: Sequence[UUID] | None, limit: int) -> list[OverRun]:
    """End the runs whose instances have ended, among some or all. With open children they stay open until these end."""
    rows = await tx.rows(sql("graphs/runs/close"), *_bounds(runs), among, limit, tx.now)
    return [OverRun(*row) for row in rows]


async def cancel_of_job(tx: Tx, shard: int, job_id: UUID) -> int:
    """Cancel the instances of a graph's open runs; returns how many. A node closes the runs."""
    return len(await tx.rows(sql("graphs/runs/cancel_of_job"), shard, job_id, tx.now))


async def trim(tx: Tx, jobs: Collection[tuple[int, UUID]], kept: int) -> None:
    """Delete all but the newest ended runs of these graphs (shard and job)."""
    await tx.rows(sql("graphs/runs/trim"), *zip(*sorted(jobs), strict=True), kept)


async def of_job(tx: Tx, tenant_id: UUID, job_id: UUID, before: UUID, limit: int) -> list[GraphRun]:
    """The newest runs of a graph before an id."""
    rows = await tx.rows(sql("graphs/runs/of_job"), job_id, tenant_id, before, limit)
    return [_run(row) for row in rows]


async def find(tx: Tx, shard: int, tenant_id: UUID, id_: UUID) -> GraphRun | None:
    """One run of the tenant; None if there is none, or it is kept no longer."""
    row = await tx.row(sql("graphs/runs/find"), shard, id_, tenant_id)
    return None if row is None else _run(row)


async def lock(tx: Tx, shard: int, tenant_id: UUID, id_: UUID) -> bool:
    """Lock an open run, and let nodes decide about it after this transaction; False when it has ended."""
    return await tx.value(sql("graphs/runs/lock"), shard, id_, tenant_id) is not None


def _run(row: asyncpg.Record) -> GraphRun:
    found = GraphRun(*row)
    return found._replace(state=RunState(found.state))


def _bounds(runs: Sequence[Run]) -> tuple[list[int], list[int]]:
    return [run.first for run in runs], [run.last for run in runs]
