"""What parameters of steps take: results of steps and of children, and payloads of runs, all encrypted."""

from collections.abc import Collection
from typing import Any, Final, NamedTuple
from uuid import UUID

from horae.domain.encryption.encrypted_values import read
from horae.domain.ids import creation_time
from horae.domain.instances.results import MAX_RESULT_BYTES
from horae.store.instances.results import CLOCK_ROOM
from horae.store.statements import sql
from horae.store.tx import Tx

MAX_STORED_BYTES: Final = 2 * MAX_RESULT_BYTES
"""Bytes that the results of all children of a step may have as stored, with `BYTES_PER_VALUE` for each of them."""
BYTES_PER_VALUE: Final = 200
"""What encryption and JSON add to a value, at most, besides a third of its own size."""


class ChildResult(NamedTuple):
    """The result of a child. `body` is None if the results of its step are too large together."""

    run_id: UUID
    position: int
    number: int
    instance_id: UUID
    body: Any


class RunPayload(NamedTuple):
    """The payload of a run, and the key that it is bound to."""

    run_id: UUID
    idem_key: str
    payload: Any


async def results(tx: Tx, places: Collection[tuple[int, UUID]]) -> dict[UUID, Any]:
    """The results of instances (shard and id) of any tenants; those without one are missing."""
    since = min(creation_time(id_) for _, id_ in places) - CLOCK_ROOM  # no older day is read
    rows = await tx.rows(sql("graphs/parameters/results"), *zip(*sorted(places), strict=True), since)
    return {row["instance_id"]: read(row["body"]) for row in rows}


async def results_of_children(tx: Tx, places: Collection[tuple[int, UUID, int]]) -> list[ChildResult]:
    """The results of the children of mapped steps (shard, run and position)."""
    since = min(creation_time(run_id) for _, run_id, _ in places) - CLOCK_ROOM
    rows = await tx.rows(
        sql("graphs/parameters/results_of_children"),
        *zip(*sorted(places), strict=True),
        since,
        MAX_STORED_BYTES,
        BYTES_PER_VALUE,
    )
    return [ChildResult(*row)._replace(body=read(row["body"])) for row in rows]


async def payloads(tx: Tx, places: Collection[tuple[int, UUID]]) -> list[RunPayload]:
    """The payloads of runs (shard and id)."""
    rows = await tx.rows(sql("graphs/parameters/payloads"), *zip(*sorted(places), strict=True))
    return [RunPayload(*row)._replace(payload=read(row["payload"])) for row in rows]
