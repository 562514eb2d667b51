"""Where an audit row stands in the hash chain of its cell."""

from uuid import UUID

from horae.domain.audit.blocks import Block
from horae.store.statements import sql
from horae.store.tx import Tx


async def block_of(tx: Tx, audit_id: UUID) -> Block | None:
    """The block of an audit row of this cell; None while it has none."""
    row = await tx.row(sql("certificates/chain/block_of"), audit_id)
    return None if row is None else Block(*row)
