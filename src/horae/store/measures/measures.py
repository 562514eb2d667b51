"""Measures of this cell's copy: what the judge has written, and what people have decided."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg
import msgspec

from horae.domain.measures.measures import MeasureLines, MeasureName, MeasureOverride, MeasureState
from horae.store.reading import read_rows
from horae.store.statements import sql
from horae.store.tx import Tx

KNOWN = frozenset(MeasureName)


async def read(tx: Tx) -> list[MeasureState]:
    """Every measure that this transaction may see. A measure of a later release is left out."""
    return [_state(row) for row in await tx.rows(sql("measures/measures/read")) if row["name"] in KNOWN]


async def write(tx: Tx, states: Sequence[MeasureState]) -> None:
    """Write judgements, unless later ones are there."""
    columns = zip(
        *(
            (
                state.tenant_id,
                state.name.value,
                state.level,
                state.since,
                state.level_since,
                state.over_minutes,
                state.clear_minutes,
                state.judged_until,
                state.value,
            )
            for state in states
        ),
        strict=True,
    )
    await tx.rows(sql("measures/measures/write"), *map(list, columns), tx.now)


async def override(tx: Tx, name: MeasureName, tenant_id: UUID, decided: MeasureOverride | None) -> None:
    """Write the decision of a person; None ends it."""
    body: Any = None if decided is None else msgspec.to_builtins(decided)
    await tx.run(sql("measures/measures/override"), tenant_id, name.value, body, tx.now)


async def forget(tx: Tx, judged_before: datetime) -> int:
    """Delete the rows that say nothing any more; returns how many."""
    return len(await tx.rows(sql("measures/measures/forget"), judged_before, tx.now))


async def lines(tx: Tx) -> dict[UUID, MeasureLines]:
    """The lines of the tenants that have some of their own, from this cell's copies. Unreadable ones are left out."""
    rows = await tx.rows(sql("measures/measures/lines"))
    found = read_rows("measure lines", rows, lambda row: msgspec.convert(row["lines"], MeasureLines))
    return {row["id"]: lines for row, lines in found}


def _state(row: asyncpg.Record) -> MeasureState:
    facts = dict(row)
    override = facts.pop("override")
    name = MeasureName(facts.pop("name"))
    decided = None if override is None else msgspec.convert(override, MeasureOverride)
    return MeasureState(name=name, override=decided, **facts)
