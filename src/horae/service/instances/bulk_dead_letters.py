"""Changes to many dead letters at once: discard them with a reason, or put tags on them."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple
from uuid import UUID

from horae.domain.errors import Invalid, Unavailable
from horae.domain.ids import Prefix, public, shard_in
from horae.domain.instances.dead_letters import MAX_TAGS, DeadLetter, DeadLetterFilter, DeadLetterMark, check_wanted
from horae.service.audit.audit import record
from horae.service.context import Context
from horae.service.instances.replays import FIRST, PAGE
from horae.store.connections.each_cell import ask_each
from horae.store.instances import dead_letters
from horae.store.protocol import CellProtocol
from horae.store.tx import Tx

Change = Callable[[Tx, Sequence[DeadLetter]], Awaitable[list[UUID]]]
"""Changes a page of dead letters; returns those that were changed."""


class BulkCount(NamedTuple):
    """How many dead letters were changed, and how many could not be."""

    changed: int
    refused: int


async def discard_by(ctx: Context, wanted: DeadLetterFilter, limit: int, reason: str) -> BulkCount:
    """Discard the open dead letters that match, the oldest of each cell first. Every page writes an audit row."""

    async def discard(tx: Tx, page: Sequence[DeadLetter]) -> list[UUID]:
        return await dead_letters.discard_many(tx, ctx.tenant.id, page, reason)

    return await _change(ctx, wanted, limit, discard, "dead_letter.discarded", {"reason": reason})


async def tag_by(
    ctx: Context, wanted: DeadLetterFilter, limit: int, *, added: Sequence[str], removed: Sequence[str]
) -> BulkCount:
    """Put tags on the open dead letters that match, and take others away. Every page writes an audit row."""
    if not added and not removed:
        raise Invalid("say which tags are added or removed")
    if len(added) > MAX_TAGS:
        raise Invalid(f"a dead letter has at most {MAX_TAGS} tags")

    async def tag(tx: Tx, page: Sequence[DeadLetter]) -> list[UUID]:
        return await dead_letters.tag_many(tx, ctx.tenant.id, page, added, removed)

    detail = {"added": list(added), "removed": list(removed)}
    return await _change(ctx, wanted, limit, tag, "dead_letter.tagged", detail)


async def _change(
    ctx: Context, wanted: DeadLetterFilter, limit: int, change: Change, action: str, detail: Mapping[str, object]
) -> BulkCount:
    """Change the matching dead letters page by page, cell by cell; cells that are down are named in `cells_down`."""
    check_wanted(wanted, limit)
    found, down = await ask_each(ctx.store.cells, partial(_page, ctx, wanted, FIRST, min(PAGE, limit)))
    if not found:
        raise Unavailable("no cell answers now; nothing was changed")
    ctx.cells_down.update(down)
    seen = changed = 0
    for cell, first in found.items():
        page = first[: limit - seen]
        while page:
            changed += await cell.run(partial(_change_page, ctx, wanted, page, change, action, detail))
            seen += len(page)
            most = min(PAGE, limit - seen)
            page = await _page(ctx, wanted, page[-1].mark, most, cell) if most else []
    return BulkCount(changed, seen - changed)


async def _page(
    ctx: Context, wanted: DeadLetterFilter, after: DeadLetterMark, limit: int, cell: CellProtocol
) -> list[DeadLetter]:
    async with cell.statement() as tx:
        return await dead_letters.open_after(tx, ctx.tenant.id, wanted, after, limit)


async def _change_page(
    ctx: Context,
    wanted: DeadLetterFilter,
    page: Sequence[DeadLetter],
    change: Change,
    action: str,
    detail: Mapping[str, object],
    tx: Tx,
) -> int:
    changed = await change(tx, page)
    if changed:
        facts = {"wanted": wanted, **detail, "letters": [public(Prefix.INSTANCE, id_) for id_ in changed]}
        await record(ctx, tx, action, shard_in(changed[0]), "dead_letters", facts)
    return len(changed)
