"""The children of mapped steps: a row and an instance for each element of a list."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from horae.domain.graphs.children import ChildCount
from horae.domain.graphs.runs import StepState
from horae.domain.placement import Run
from horae.store.arrays import plain
from horae.store.graphs.runs import OverRun
from horae.store.graphs.steps import ReleaseRow, StepEnd, end_of, release_columns
from horae.store.statements import sql
from horae.store.tx import Tx


class MappedStart(NamedTuple):
    """A mapped step to start, with the number of its children."""

    shard: int
    run_id: UUID
    position: int
    children: int


class MappedPlace(NamedTuple):
    """A mapped step that runs, and how many of its children may be live at once."""

    shard: int
    run_id: UUID
    position: int
    concurrency: int


class LookPosition(NamedTuple):
    """The last live child that a look for unrecorded ends has seen."""

    shard: int
    instance_id: UUID


class LookResult(NamedTuple):
    """What a look found. `last` is None at the end of the live children."""

    ends: list[StepEnd]
    last: LookPosition | None


class ChildRow(NamedTuple):
    """A child as people see it."""

    number: int
    state: StepState
    instance_id: UUID | None
    changed_at: datetime
    reason: str | None


async def begin(tx: Tx, starts: Sequence[MappedStart]) -> None:
    """Start mapped steps whose runs this transaction has locked, and insert their children as waiting."""
    await tx.run(sql("graphs/children/begin"), *zip(*starts, strict=True), tx.now)


async def count(tx: Tx, places: Sequence[MappedPlace], limit: int) -> dict[tuple[UUID, int], ChildCount]:
    """Count children by run and position; of each step, at most `limit` that may start now are named."""
    rows = await tx.rows(sql("graphs/children/count"), *zip(*places, strict=True), limit)
    return {(row["run_id"], row["position"]): ChildCount(row["live"], row["failed"], row["numbers"]) for row in rows}


async def release(tx: Tx, rows: Sequence[tuple[int, ReleaseRow]]) -> set[UUID]:
    """Release children, given their numbers; returns the ids of their new instances."""
    numbers, releases = zip(*rows, strict=True)
    columns = release_columns(releases)
    columns.insert(3, plain(numbers))
    return {row["id"] for row in await tx.rows(sql("graphs/children/release"), *columns, tx.now)}


async def cancel(tx: Tx, over: Sequence[OverRun], limit: int) -> int:
    """Cancel open children of runs whose instances have ended; returns how many."""
    places = sorted((run.shard, run.id) for run in over)
    return len(await tx.rows(sql("graphs/children/cancel"), *zip(*places, strict=True), limit, tx.now))


async def ended(tx: Tx, run: Run, after: LookPosition, limit: int) -> LookResult:
    """The live children behind a position whose instances have ended; `limit` children are looked at."""
    rows = await tx.rows(sql("graphs/children/ended"), *run, *after, limit)
    ends = [end_of(row["shard_id"], row) for row in rows if not row["lives"]]
    return LookResult(ends, LookPosition(rows[-1]["shard_id"], rows[-1]["instance_id"]) if rows else None)


async def repeat_failed(tx: Tx, shard: int, run_id: UUID, position: int) -> None:
    """Let the failed children of a step wait again, because a person runs the step again."""
    await tx.run(sql("graphs/children/repeat_failed"), shard, run_id, position, tx.now)


async def remove(tx: Tx, shard: int, run_id: UUID, positions: Sequence[int]) -> None:
    """Remove the children of steps that are run again from the beginning."""
    await tx.run(sql("graphs/children/remove"), shard, run_id, list(positions))


async def page(
    tx: Tx, shard: int, run_id: UUID, tenant_id: UUID, position: int, state: StepState | None, after: int, limit: int
) -> list[ChildRow]:
    """The children of a step behind a number, in the order of the list; with a state, only those in it."""
    rows = await tx.rows(sql("graphs/children/page"), shard, run_id, tenant_id, position, state, after, limit)
    return [ChildRow(*row)._replace(state=StepState(row["state"])) for row in rows]


async def tally(tx: Tx, shard: int, run_id: UUID, tenant_id: UUID) -> dict[int, dict[StepState, int]]:
    """Count the children of a run by the position of their step and by state."""
    found: dict[int, dict[StepState, int]] = {}
    for row in await tx.rows(sql("graphs/children/tally"), shard, run_id, tenant_id):
        found.setdefault(row["position"], {})[StepState(row["state"])] = row["children"]
    return found
