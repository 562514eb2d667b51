"""The place of a certificate's digest in the hash chain of the audit log.

A block can be verified only with all of its rows. So the digest has to be in a block without rows of other tenants: the
blocks before and after its row are closed at once, and it is recorded again if somebody else wrote meanwhile.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.audit.anchors import Anchor
from horae.domain.audit.blocks import AuditRow, Block
from horae.domain.errors import Contended
from horae.domain.ids import shard_in
from horae.runtime.randomness import new_id
from horae.service.context import Context
from horae.store.audit import audit, blocks
from horae.store.certificates import chain
from horae.store.certificates.certificates import StoredCertificate
from horae.store.protocol import CellProtocol
from horae.store.tx import Tx

RECORDED: Final = "certificate.recorded"
MOST_ENTRIES: Final = 5000
"""Audit rows in one block."""
NO_EMPTY_BLOCK: Final = timedelta(days=36_500)
"""No block is written when nothing happened."""
TRIES: Final = 5
"""How often a digest is recorded again, until no other tenant is in its block."""
PAGE: Final = 1000
"""Blocks per page."""
LAST_ID: Final = UUID(int=2**128 - 1)


class ChainProof(NamedTuple):
    """The blocks from that of the digest to the end, the rows of the first one, and the anchor at the end, if any."""

    cell: str
    audit_id: UUID
    rows: Sequence[AuditRow]
    blocks: Sequence[Block]
    anchor: Anchor | None


async def close_block(ctx: Context) -> None:
    """Chain the audit rows of the tenant's home cell up to now."""
    async with ctx.store.statement(shard_in(ctx.tenant.id)) as tx:
        await blocks.append(tx, tx.now - NO_EMPTY_BLOCK, MOST_ENTRIES)


async def record_digest(ctx: Context, tx: Tx, stored: StoredCertificate, audit_id: UUID) -> None:
    """Write the digest of a certificate as an audit row, after a statement that carries the fence."""
    await audit.append(
        tx,
        shard_in(ctx.tenant.id),
        audit_id,
        ctx.tenant.id,
        actor=ctx.actor,
        action=RECORDED,
        resource=f"certificate/{stored.day}",
        detail={"digest": stored.digest.hex(), "key": stored.key_id, "revision": stored.revision},
    )


async def prove(ctx: Context, stored: StoredCertificate, anchors: Sequence[Anchor]) -> ChainProof:
    """Return the proof that a digest is chained. The digest is recorded again where its block was dropped or shared."""
    audit_id = stored.audit_id
    for _ in range(TRIES):
        for cell in ctx.store.cells:
            proof = await _proof_in(ctx, cell, audit_id, anchors)
            if proof is not None:
                return proof
        audit_id = await _record_again(ctx, stored)
    raise Contended(f"others write audit rows all the time: no block has only the digest of {stored.day}; ask again")


async def _proof_in(ctx: Context, cell: CellProtocol, audit_id: UUID, anchors: Sequence[Anchor]) -> ChainProof | None:
    async with cell.statement() as tx:
        block = await chain.block_of(tx, audit_id)
        if block is None:
            return None
        rows = await blocks.entries(tx, (block.from_xid - 1, LAST_ID), block.until_xid, block.entries + 1)
        head = await blocks.head(tx)
    if any(row.tenant_id != ctx.tenant.id for row in rows):
        return None
    later = [one for one in anchors if one.cell == head.cell and block.number <= one.number <= head.link.number]
    anchor = min(later, key=lambda one: one.number, default=None)
    last = head.link.number if anchor is None else anchor.number
    return ChainProof(head.cell, audit_id, rows, await _blocks(cell, block.number, last), anchor)


async def _blocks(cell: CellProtocol, first: int, last: int) -> list[Block]:
    found: list[Block] = []
    while not found or found[-1].number < last:
        async with cell.statement() as tx:
            page = await blocks.page(tx, found[-1].number if found else first - 1, last, PAGE)
        if not page:
            break
        found += page
    return found


async def _record_again(ctx: Context, stored: StoredCertificate) -> UUID:
    shard = shard_in(ctx.tenant.id)
    audit_id = new_id(shard, ctx.now(shard))

    async def work(tx: Tx) -> None:
        await record_digest(ctx, tx, stored, audit_id)

    await close_block(ctx)
    await ctx.store.run(shard, work)
    await close_block(ctx)
    return audit_id
