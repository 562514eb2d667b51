"""Examines a restored cell before it is opened: what its past lacks, as the other cells and the anchors know it."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple, TypeVar

from horae.domain.audit.anchors import Anchor
from horae.domain.errors import NotFound, Unavailable
from horae.domain.restores.copies import newer_copies
from horae.domain.restores.doubts import KINDS, CopyComparison, Doubt, Row, compare, doubted_tenants
from horae.domain.restores.generations import CellRecord, ServerFacts
from horae.domain.restores.shards import ELSEWHERE, ShardFindings, compare_shards
from horae.domain.tenants.tenants import SYSTEM
from horae.service.context import CallerContext
from horae.store.audit import blocks
from horae.store.protocol import CellProtocol
from horae.store.restores import contents, generations
from horae.store.tx import GONE, Tx

Result = TypeVar("Result")


class LostBlocks(NamedTuple):
    """How far the audit chain of the cell reached once, and how far it reaches now."""

    known: int
    here: int


class RestorePlan(NamedTuple):
    """What opening a cell would do.

    `newer` has, by table, the rows of other cells that the cell takes over. `lost_blocks` is None where no anchor is
    newer than the end of the chain.
    """

    cell: str
    record: CellRecord
    server: ServerFacts
    next_generation: int
    shards: ShardFindings
    doubts: list[Doubt]
    newer: dict[str, list[Row]]
    lost_blocks: LostBlocks | None


async def plan(ctx: CallerContext, name: str, anchors: Sequence[Anchor] = ()) -> RestorePlan:
    """Examine a restored cell. Every other cell must answer: what it knows may be needed."""
    cell, others = find_cells(ctx, name)
    record, server = await _ask(cell, generations.read)
    states, findings = await examine_shards(cell, others)
    own = [shard for shard, state in states.items() if state != ELSEWHERE and shard not in findings.left]
    compared = {table: await _compare(cell, others, table, own) for table in contents.COPIED_TABLES}
    tenants = [row for row in await _ask(cell, contents.tenants) if row["name"] != SYSTEM]
    copies = {other.name: await _ask(other, partial(contents.tenant_copies, shards=own)) for other in others}
    doubts = [*(one for found in compared.values() for one in found.doubts), *doubted_tenants(tenants, copies)]
    heard = [(await _ask(other, generations.witnesses)).get(name, 0) for other in others]
    return RestorePlan(
        name,
        record,
        server,
        max(record.generation, *heard, 0) + 1,
        findings,
        doubts,
        {table: found.newer for table, found in compared.items() if found.newer},
        _lost_blocks(await _ask(cell, blocks.head), anchors),
    )


def find_cells(ctx: CallerContext, name: str) -> tuple[CellProtocol, list[CellProtocol]]:
    """The cell with that name, and all others."""
    found = [cell for cell in ctx.store.cells if cell.name == name]
    if not found:
        raise NotFound(f"there is no cell {name!r}")
    return found[0], [cell for cell in ctx.store.cells if cell.name != name]


async def examine_shards(cell: CellProtocol, others: Sequence[CellProtocol]) -> tuple[dict[int, str], ShardFindings]:
    """The states of all shards in a restored cell, and what the other cells say about them now."""
    states = await _ask(cell, contents.shard_states)
    elsewhere = {other.name: await _ask(other, contents.shard_states) for other in others}
    epochs: dict[int, int] = {}
    for other in others:
        epochs |= await _ask(other, partial(contents.activations, cell=cell.name))
    arrived = await _ask(cell, partial(contents.opened_after, epochs=epochs))
    return states, compare_shards(states, elsewhere, arrived)


async def _compare(
    cell: CellProtocol, others: Sequence[CellProtocol], table: str, shards: Sequence[int]
) -> CopyComparison:
    look = partial(contents.rows, table=table, shards=shards)
    copies = {other.name: await _ask(other, look) for other in others}
    own = await _ask(cell, look)
    kind = next((kind for kind, facts in KINDS.items() if facts.table == table), None)
    if kind is None:  # data keys and subscriptions grant nothing by themselves: the newest copy is right
        return CopyComparison([], newer_copies(table, own, chain.from_iterable(copies.values())))
    return compare(kind, own, copies)


async def _ask(cell: CellProtocol, look: Callable[[Tx], Awaitable[Result]]) -> Result:
    try:
        async with cell.statement() as tx:
            return await look(tx)
    except GONE as error:
        raise Unavailable(f"{cell.name} does not answer: what it knows is needed ({error})") from error


def _lost_blocks(head: blocks.Head, anchors: Sequence[Anchor]) -> LostBlocks | None:
    known = max((anchor.number for anchor in anchors if anchor.cell == head.cell), default=0)
    return LostBlocks(known, head.link.number) if known > head.link.number else None
