"""Rows that a restore shut, and that a person puts back or leaves shut."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import asyncpg

from horae.domain.restores.doubts import Doubt, DoubtKind, Row
from horae.store.statements import sql
from horae.store.tx import Tx


class DoubtRow(NamedTuple):
    """A doubt as a restored cell keeps it. `decision` is None until a person has decided."""

    generation: int
    number: int
    kind: DoubtKind
    tenant_id: UUID
    name: str
    evidence: str
    content: Row
    found_at: datetime
    decision: str | None
    decided_by: str | None


async def record(tx: Tx, generation: int, doubts: Sequence[Doubt]) -> None:
    """Write down doubts of a generation, numbered from 1."""
    columns = (
        list(range(1, len(doubts) + 1)),
        [one.kind for one in doubts],
        [one.tenant_id for one in doubts],
        [one.name for one in doubts],
        [one.evidence for one in doubts],
        [dict(one.content) for one in doubts],
    )
    await tx.run(sql("restores/doubts/record"), generation, *columns, tx.now)


async def listing(tx: Tx, *, with_decided: bool = False) -> list[DoubtRow]:
    """The doubts of this cell, those that wait for a decision or all."""
    return [_doubt(row) for row in await tx.rows(sql("restores/doubts/listing"), with_decided)]


async def decide(tx: Tx, doubt: DoubtRow, decision: str, actor: str) -> bool:
    """Record a decision; False when somebody has decided."""
    args = (doubt.generation, doubt.number, decision, actor, tx.now)
    return await tx.value(sql("restores/doubts/decide"), *args) is not None


async def shut_api_keys(tx: Tx, ids: Sequence[str]) -> None:
    """Revoke API keys."""
    await tx.run(sql("restores/doubts/shut_api_keys"), ids, tx.now)


async def shut_role_bindings(tx: Tx, tenant_ids: Sequence[UUID], principals: Sequence[str]) -> None:
    """Take the roles of principals away."""
    await tx.run(sql("restores/doubts/shut_role_bindings"), tenant_ids, principals, tx.now)


async def shut_secrets(tx: Tx, tenant_ids: Sequence[UUID], names: Sequence[str]) -> None:
    """Take the values of secrets away."""
    await tx.run(sql("restores/doubts/shut_secrets"), tenant_ids, names, tx.now)


async def put_back_api_key(tx: Tx, content: Row) -> bool:
    """Make a key valid again; False when it is valid."""
    return await tx.value(sql("restores/doubts/put_back_api_key"), content, tx.now) is not None


async def put_back_role_binding(tx: Tx, content: Row) -> bool:
    """Give a principal its roles again; False when it has roles."""
    return await tx.value(sql("restores/doubts/put_back_role_binding"), content, tx.now) is not None


async def put_back_secret(tx: Tx, content: Row) -> bool:
    """Give a secret its value again; False when it has one."""
    return await tx.value(sql("restores/doubts/put_back_secret"), content, tx.now) is not None


def _doubt(row: asyncpg.Record) -> DoubtRow:
    return DoubtRow(**{**row, "kind": DoubtKind(row["kind"])})
