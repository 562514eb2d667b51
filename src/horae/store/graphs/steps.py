"""The steps of runs. A step is released in the statement that inserts its instance."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

import asyncpg

from horae.domain.graphs.runs import StepState, state_of_end
from horae.domain.instances.lifecycle import State
from horae.domain.placement import Run
from horae.store.arrays import documents, plain, texts
from horae.store.statements import sql
from horae.store.tx import Tx

STATES: Final[Mapping[str, StepState]] = {state.value: state for state in StepState}
"""The states by their text: a lookup costs less than making a state of it."""


class StepRow(NamedTuple):
    """A step of a run as stored. `children`: how many a mapped step has; None before it starts."""

    run_id: UUID
    position: int
    name: str
    state: StepState
    generation: int
    instance_id: UUID | None
    changed_at: datetime
    reason: str | None
    children: int | None = None


class NewStepRow(NamedTuple):
    """A step to insert with its run."""

    shard: int
    run_id: UUID
    tenant_id: UUID
    position: int
    name: str


class ReleaseRow(NamedTuple):
    """A step to release, with its new instance."""

    shard: int
    run_id: UUID
    position: int
    instance_id: UUID
    tenant_id: UUID
    job_id: UUID
    job_version: int
    idem_key: str
    fire_time: datetime
    priority: int
    slot_ms: int
    queue: str | None
    payload: Any = None


class StepChange(NamedTuple):
    """A new state of a step."""

    shard: int
    run_id: UUID
    position: int
    state: StepState
    generation: int
    reason: str | None = None


class StepEnd(NamedTuple):
    """The end of the instance of a step."""

    shard: int
    instance_id: UUID
    state: StepState
    reason: str | None


class EndedStep(NamedTuple):
    """A step whose instance has ended, in a run that this transaction has locked."""

    shard: int
    run_id: UUID
    position: int
    instance_id: UUID
    state: StepState
    reason: str | None


class StepPlace(NamedTuple):
    """A step of a run by its place in the graph."""

    shard: int
    run_id: UUID
    position: int


class SeenStep(NamedTuple):
    """The state of a step. `is_end`: this call has recorded that it ended so; otherwise it was read."""

    run_id: UUID
    position: int
    state: StepState
    generation: int
    is_end: bool


async def insert(tx: Tx, rows: Sequence[NewStepRow]) -> None:
    """Insert the steps of runs that were just started. Steps that are there stay as they are."""
    shards, runs, tenants, positions, names = zip(*rows, strict=True)
    columns = *map(plain, (shards, runs, tenants, positions)), texts(names)
    await tx.rows(sql("graphs/steps/insert"), *columns, tx.now)


async def of_runs(tx: Tx, places: Sequence[tuple[int, UUID]]) -> list[StepRow]:
    """The steps of runs (shard and id), in the order of their graphs."""
    rows = await tx.rows(sql("graphs/steps/of_runs"), *zip(*places, strict=True))
    return [StepRow(row[0], row[1], row[2], STATES[row[3]], *row[4:]) for row in rows]


async def ended(tx: Tx, run: Run, limit: int) -> list[StepEnd]:
    """The released steps in a run of shards whose instances have ended."""
    return [end_of(row["shard_id"], row) for row in await tx.rows(sql("graphs/steps/ended"), *run, limit)]


async def record(tx: Tx, ends: Sequence[StepEnd]) -> int:
    """Record ends of steps; returns how many runs have to be decided about."""
    return len(await tx.rows(sql("graphs/steps/record"), *zip(*sorted(ends), strict=True), tx.now))


async def record_locked(tx: Tx, ends: Sequence[EndedStep], others: Sequence[StepPlace]) -> list[SeenStep]:
    """Record ends of steps of locked runs, and read other steps as they were before; returns both."""
    read = zip(*others, strict=True) if others else ((), (), ())
    columns = map(plain, (*zip(*ends, strict=True), *read))
    found = await tx.rows(sql("graphs/steps/record_locked"), *columns, tx.now)
    return [SeenStep(row[0], row[1], STATES[row[2]], row[3], row[4]) for row in found]


async def release(tx: Tx, rows: Sequence[ReleaseRow]) -> set[UUID]:
    """Release steps; returns the ids of their new instances."""
    return {row["id"] for row in await tx.rows(sql("graphs/steps/release"), *release_columns(rows), tx.now)}


def release_columns(rows: Sequence[ReleaseRow]) -> list[str]:
    """Return the columns of these rows. The names of queues are printable, so they are plain."""
    columns = list(zip(*rows, strict=True))
    return [*map(plain, columns[:7]), texts(columns[7]), *map(plain, columns[8:12]), documents(columns[12])]


async def change(tx: Tx, changes: Sequence[StepChange]) -> None:
    """Change states of steps whose runs this transaction has locked."""
    await tx.rows(sql("graphs/steps/change"), *zip(*changes, strict=True), tx.now)


async def cancel(tx: Tx, places: Sequence[tuple[int, UUID]]) -> int:
    """Cancel what is left of runs that have just ended (shard and id); returns how many live instances ended."""
    return len(await tx.rows(sql("graphs/steps/cancel"), *zip(*sorted(places), strict=True), tx.now))


def end_of(shard: int, row: asyncpg.Record) -> StepEnd:
    """Return the end of an instance by its row of history; all columns of that are null where there is none."""
    reason = row["error_code"] or row["reason"]
    if reason is None and row["state"] is None:
        reason = "LOST"
    state = None if row["state"] is None else State(row["state"])
    return StepEnd(shard, row["instance_id"], state_of_end(state, row["reason"]), reason)
