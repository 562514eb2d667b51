"""The runs of graphs. A run is an instance of the graph's job, and a row that says how far its steps are."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import asyncpg

from horae.domain.graphs.runs import RunState
from horae.domain.placement import Run
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


async def start(tx: Tx, places: Sequence[tuple[int, UUID, datetime]], token: UUID) -> set[UUID]:
    """Start runs (shard, id and deadline); returns the ids of those that this call has started."""
    rows = await tx.rows(sql("graphs/runs/start"), *zip(*places, strict=True), token, tx.now)
    return {row["id"] for row in rows}


async def stale(tx: Tx, runs: Sequence[Run], without: LeftOut, limit: int) -> list[OpenRun]:
    """Open runs of which a step has changed; locked until the transaction ends."""
    rows = await tx.rows(sql("graphs/runs/stale"), *_bounds(runs), *map(list, without), limit)
    return [OpenRun(*row) for row in rows]


async def overdue(tx: Tx, runs: Sequence[Run], limit: int) -> list[OpenRun]:
    """Open runs past their deadline."""
    return [OpenRun(*row) for row in await tx.rows(sql("graphs/runs/overdue"), *_bounds(runs), tx.now, limit)]


async def decide(tx: Tx, decided: Sequence[tuple[int, UUID, bool]]) -> None:
    """Note for runs (shard, id) that their steps are decided about, and whether one of them is blocked."""
    await tx.rows(sql("graphs/runs/decide"), *zip(*decided, strict=True))


async def close(tx: Tx, runs: Sequence[Run], limit: int) -> list[OverRun]:
    """End the runs whose instances have ended. Those with open children stay open until these are cancelled."""
    return [OverRun(*row) for row in await tx.rows(sql("graphs/runs/close"), *_bounds(runs), limit, tx.now)]


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
