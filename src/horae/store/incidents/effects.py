"""What recovery reads and changes in a cell, beside its own records."""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from horae.domain.instances.instances import Priority
from horae.store.statements import sql
from horae.store.tx import Tx


class RewoundSubscriptions(NamedTuple):
    """The last subscription of a page, how many the page has, and how many of them go back."""

    last: UUID
    found: int
    rewound: int


async def overdue(tx: Tx, priority: Priority, due_before: datetime, limit: int) -> int:
    """How many fires and first attempts of this priority or a higher one are overdue; at most `limit` of each."""
    return int(await tx.value(sql("incidents/effects/overdue"), priority, due_before, limit) or 0)


async def rewind_subscriptions(
    tx: Tx, after: UUID, since: int, at: datetime, limit: int
) -> RewoundSubscriptions | None:
    """Move a page of subscriptions back to transaction `since`. None: there are no more subscriptions."""
    row = await tx.row(sql("incidents/effects/rewind_subscriptions"), after, since, at, limit)
    return None if row is None or row["last"] is None else RewoundSubscriptions(*row)


async def tenants_with_dead_letters(tx: Tx, tag: str, created_since: datetime, limit: int) -> list[UUID]:
    """The tenants that have open dead letters with a tag since a time."""
    args = (tag, created_since, limit)
    return [row["id"] for row in await tx.rows(sql("incidents/effects/tenants_with_dead_letters"), *args)]


async def loses_no_commits(tx: Tx) -> bool:
    """Whether no acknowledged commit of this cell can be lost: its server was never replaced, or a standby has all."""
    return bool(await tx.value(sql("incidents/effects/loses_no_commits")))
