"""The step jobs of graphs: the hidden jobs that make the calls of steps. Many are written by one statement."""

from collections.abc import Sequence
from uuid import UUID

import asyncpg

from horae.domain.errors import NameTaken
from horae.domain.jobs.jobs import Definition, Job
from horae.store.statements import sql
from horae.store.tx import Tx


async def create(tx: Tx, steps: Sequence[Job], actor: str) -> int:
    """Insert step jobs of one graph and their first versions; returns how many: none if their shard is closed."""
    first = steps[0]
    columns = [[step.id for step in steps], [step.name for step in steps], [step.definition for step in steps]]
    try:
        rows = await tx.rows(sql("graphs/step_jobs/create"), first.shard, first.tenant_id, *columns, tx.now, actor)
    except asyncpg.UniqueViolationError as error:
        raise NameTaken("a job with the name of a step exists already") from error
    return len(rows)


async def revise(tx: Tx, shard: int, changes: Sequence[tuple[UUID, int, Definition]], actor: str) -> int:
    """Write the next versions of step jobs (id, version and definition); returns how many were at that version."""
    rows = await tx.rows(sql("graphs/step_jobs/revise"), shard, *zip(*changes, strict=True), tx.now, actor)
    return len(rows)


async def are_needed(tx: Tx, shard: int, graph_id: UUID) -> bool:
    """Whether a run of the graph lives, waits to begin, or may be replayed."""
    return bool(await tx.value(sql("graphs/step_jobs/are_needed"), shard, graph_id))


async def remove(tx: Tx, shard: int, graph_id: UUID, job_ids: Sequence[UUID]) -> None:
    """Remove step jobs of a graph."""
    await tx.rows(sql("graphs/step_jobs/remove"), shard, graph_id, job_ids, tx.now)
