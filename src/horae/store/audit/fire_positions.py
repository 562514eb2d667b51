"""How far the fires of a cell's jobs are audited."""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from horae.store.audit.fires import BEGINNING, JobPlace
from horae.store.statements import sql
from horae.store.tx import Tx


class AuditPosition(NamedTuple):
    """All fires before `judged_until` are judged.

    A walk over all jobs judges the fires from there to `walk_until`; None: no walk is under way. It has judged the jobs
    up to `walked_shard` and `walked_job`. `has_doubt`: it could not decide about a fault, because a cell was down.
    `has_findings`: some findings of the cell are open.
    """

    judged_until: datetime
    walk_until: datetime | None = None
    walked_shard: int = BEGINNING[0]
    walked_job: UUID = BEGINNING[1]
    has_doubt: bool = False
    has_findings: bool = False

    @property
    def walked(self) -> JobPlace:
        """The last job that the walk has judged."""
        return self.walked_shard, self.walked_job


async def read(tx: Tx) -> AuditPosition | None:
    """The position of this cell; None before the first round."""
    row = await tx.row(sql("audit/fire_positions/read"))
    return None if row is None else AuditPosition(*row)


async def begin(tx: Tx, judged_until: datetime) -> bool:
    """Write the first position; False when another node has written it."""
    return await tx.value(sql("audit/fire_positions/begin"), judged_until, tx.now) is not None


async def move(tx: Tx, before: AuditPosition, after: AuditPosition) -> bool:
    """Move the position; False when another node has moved it since it was read."""
    args = (before.judged_until, before.walk_until, *before.walked)
    args += (after.judged_until, after.walk_until, *after.walked, after.has_doubt, tx.now)  # type: ignore[assignment]
    return await tx.value(sql("audit/fire_positions/move"), *args) is not None


async def lock(tx: Tx) -> None:
    """Let no other node record findings of this cell until the transaction ends."""
    await tx.value(sql("audit/fire_positions/lock"))
