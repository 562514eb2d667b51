"""The generation of a cell, and what other cells have heard of it."""

from horae.domain.restores.generations import CellRecord, ServerFacts
from horae.store.connections.admission import record_of, server_of
from horae.store.statements import sql
from horae.store.tx import Tx


async def read(tx: Tx) -> tuple[CellRecord, ServerFacts]:
    """What the cell has recorded about itself, and what its server says."""
    row = await tx.row(sql("restores/generations/read"))
    assert row is not None
    return record_of(row), server_of(row)


async def witnesses(tx: Tx) -> dict[str, int]:
    """The newest generation of each other cell that this cell has heard of."""
    return {row["cell"]: row["generation"] for row in await tx.rows(sql("restores/generations/witnesses"))}


async def witness(tx: Tx, cell: str, generation: int) -> bool:
    """Remember the generation of another cell; False when this cell has heard of it, or of a newer one."""
    return await tx.value(sql("restores/generations/witness"), cell, generation, tx.now) is not None


async def close(tx: Tx, generation: int, reason: str) -> bool:
    """Close a cell for ever and freeze its shards; False when it is closed, or has another generation."""
    return await tx.value(sql("restores/generations/close"), reason, generation) is not None


async def open(tx: Tx, generation: int) -> bool:  # noqa: A001 - the verb of the command
    """Record a new generation, and the server that answers; False when the cell has it, or a newer one."""
    return await tx.value(sql("restores/generations/open"), generation, tx.now) is not None


async def confirm(tx: Tx, generation: int) -> bool:
    """Record the server that answers for the same generation; False when the cell has another one, or is closed."""
    return await tx.value(sql("restores/generations/confirm"), generation) is not None
