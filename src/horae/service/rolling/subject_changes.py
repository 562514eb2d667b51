"""Changes of a rolling set that arrive by messages. Their versions order them, in whatever order they arrive.

1. The highest version of a subject decides whether it is in the set. A repeated or older message changes nothing.
2. A version is kept after its subject was removed, so that a late "added" does not bring the subject back.
3. A change by request (`subjects.add`, `subjects.remove`) has no version. The next higher version decides again.
"""

from collections.abc import Sequence
from typing import NamedTuple

from horae.domain.errors import HoraeError, Invalid, ShardClosed
from horae.domain.jobs.jobs import Job
from horae.domain.rolling.rolling import AT_ONCE, check_subject
from horae.domain.schedules.triggers import RollingTrigger
from horae.service.context import Context
from horae.service.rolling.subjects import LARGEST, rolling_job
from horae.service.tenants.places import shards_of_keys
from horae.store.protocol import CellProtocol
from horae.store.rolling import versions
from horae.store.rolling.versions import SubjectChangeRow
from horae.store.tx import Tx


class SubjectChange(NamedTuple):
    """What a message wants: the subject is in the set (`present`) or not, as of this version."""

    key: str
    version: int
    present: bool
    at_once: bool = False


async def apply_changes(ctx: Context, job_name: str, changes: Sequence[SubjectChange]) -> list[bool | HoraeError]:
    """Add and remove subjects; at most one change of each key. Returns for each whether it was newer, or its refusal.

    Raises `ShardClosed` where a shard is moving: then a part may be committed, and all can be applied again.
    """
    job = await rolling_job(ctx, job_name)
    if len(changes) > LARGEST:
        raise Invalid(f"a batch holds at most {LARGEST} subjects, not {len(changes)}")
    refused = {one.key: error for one in changes if (error := _refusal(one)) is not None}
    good = [one for one in changes if one.key not in refused]
    applied: dict[str, bool] = {}
    for cell, some in (await _parts(ctx, job, good)).items():
        applied |= await _apply_in_cell(ctx, job, cell, some)
    return [refused.get(one.key) or applied[one.key] for one in changes]


async def _apply_in_cell(
    ctx: Context, job: Job, cell: CellProtocol, some: Sequence[tuple[int, SubjectChange]]
) -> dict[str, bool]:
    trigger = job.definition.trigger
    assert isinstance(trigger, RollingTrigger)

    async def work(tx: Tx) -> dict[str, bool]:
        next_tick = trigger.refreshed_before(tx.now)
        rows = [
            SubjectChangeRow(shard, one.key, one.version, one.present, AT_ONCE if one.at_once else next_tick)
            for shard, one in some
        ]
        found = await versions.apply(tx, ctx.tenant.id, job.id, rows)
        if not all(one.open for one in found):
            raise ShardClosed("a shard of this set is moving to another cell; ask again")
        return {one.key: one.applied for one in found}

    return await cell.run(work)


async def _parts(
    ctx: Context, job: Job, changes: Sequence[SubjectChange]
) -> dict[CellProtocol, list[tuple[int, SubjectChange]]]:
    """Returns the changes with their shards by cell, in row order."""
    shards = await shards_of_keys(ctx, job, [one.key for one in changes])
    parts: dict[CellProtocol, list[tuple[int, SubjectChange]]] = {}
    for shard, one in sorted(((shards[one.key], one) for one in changes), key=lambda pair: (pair[0], pair[1].key)):
        parts.setdefault(ctx.store.cell(shard), []).append((shard, one))
    return parts


def _refusal(change: SubjectChange) -> HoraeError | None:
    try:
        check_subject(change.key)
    except HoraeError as error:
        return error
    return None
