"""What opening a restored cell reads of all cells, and changes in the restored one."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from horae.domain.restores.doubts import Row
from horae.store.encryption import data_keys, secrets
from horae.store.events import channels
from horae.store.identity import api_keys, role_bindings
from horae.store.statements import sql
from horae.store.tx import Tx

COPIED_TABLES: Final = ("api_key", "role_binding", "secret", "data_key", "channel")
"""The tables whose rows have the same columns in the copies of other cells."""
EPOCH_JUMP: Final = 1_000_000_000
"""More than the changes of owner of a shard that a lost history can have seen."""
VERSION_JUMP: Final = 1_000_000
"""More than the changes of one row that a lost history can have seen."""


async def rows(tx: Tx, table: str, shards: Sequence[int]) -> list[Row]:
    """The rows of a table that belong to some shards."""
    assert table in COPIED_TABLES
    return _contents(await tx.rows(sql("restores/contents/rows").format(table=table), shards))


async def tenants(tx: Tx) -> list[Row]:
    """The tenants whose home is this cell and that are not removed, each with the version of its copy."""
    return _contents(await tx.rows(sql("restores/contents/tenants")))


async def tenant_copies(tx: Tx, shards: Sequence[int]) -> list[Row]:
    """The copies that this cell has of tenants with their home in some shards."""
    return _contents(await tx.rows(sql("restores/contents/tenant_copies"), shards))


async def shard_states(tx: Tx) -> dict[int, str]:
    """The state of every shard in this cell."""
    return {row["shard_id"]: row["state"] for row in await tx.rows(sql("restores/contents/shard_states"))}


async def activations(tx: Tx, cell: str) -> dict[int, int]:
    """The shards that moves are about to open in another cell, each with the epoch that it gave."""
    return {row["shard_id"]: row["target_epoch"] for row in await tx.rows(sql("restores/contents/activations"), cell)}


async def opened_after(tx: Tx, epochs: Mapping[int, int]) -> set[int]:
    """Those of these shards that this cell has opened after it had given an epoch to their move."""
    rows = await tx.rows(sql("restores/contents/opened_after"), list(epochs), list(epochs.values()))
    return {row["shard_id"] for row in rows}


async def count_rows(tx: Tx) -> dict[str, int]:
    """How many rows the tables of jobs, instances, tasks and the audit log have."""
    row = await tx.row(sql("restores/contents/count_rows"))
    assert row is not None
    return dict(row)


async def adopt(tx: Tx, table: str, newer: Sequence[Row]) -> int:
    """Take over the rows of other cells that are newer than those of the backup; returns how many."""
    if not newer:
        return 0
    given: Any = newer
    match table:
        case "api_key":
            return await api_keys.copy(tx, given)
        case "role_binding":
            return await role_bindings.copy(tx, given)
        case "secret":
            return await secrets.copy(tx, given)
        case "data_key":
            return await data_keys.copy(tx, given)
        case _:
            return await channels.copy(tx, given)


async def raise_epochs(tx: Tx) -> None:
    """Let every shard begin an epoch that no node of the lost history can have had."""
    await tx.run(sql("restores/contents/raise_epochs"), EPOCH_JUMP)


async def forget_nodes(tx: Tx) -> None:
    """Delete every node: those of the backup have ended."""
    await tx.run(sql("restores/contents/forget_nodes"))


async def end_sessions(tx: Tx) -> int:
    """End every session of people in this cell; returns how many."""
    return len(await tx.rows(sql("restores/contents/end_sessions"), tx.now))


async def raise_references(tx: Tx) -> int:
    """Let the reference rows of the backup replace newer copies in other cells; returns how many rows there are."""
    return len(await tx.rows(sql("restores/contents/raise_references"), VERSION_JUMP, tx.now))


async def request_rounds(tx: Tx) -> int:
    """Let every source begin a new round at once: it finds tasks that were lost; returns how many."""
    return len(await tx.rows(sql("restores/contents/request_rounds"), tx.now))


async def leave_shards(tx: Tx, shards: Sequence[int]) -> None:
    """Close the shards that another cell holds by now."""
    await tx.run(sql("restores/contents/leave_shards"), shards)


async def record_departures(tx: Tx, ids: Sequence[UUID], left: Mapping[int, str], actor: str) -> None:
    """Record moves of shards that ended in the lost history, so that a coordinator deletes their rows here."""
    await tx.run(sql("restores/contents/record_departures"), ids, list(left), list(left.values()), actor, tx.now)


async def abort_moves(tx: Tx) -> int:
    """Abort the moves out of this cell that the backup shows half done, after epochs were raised; returns how many."""
    return len(await tx.rows(sql("restores/contents/abort_moves"), EPOCH_JUMP, tx.now))


async def abort_moves_into(tx: Tx, cell: str) -> int:
    """Ask for the end of the moves out of this cell into a restored one that are half done; returns how many."""
    return len(await tx.rows(sql("restores/contents/abort_moves_into"), cell))


def _contents(found: Sequence[Any]) -> list[Row]:
    return [row["content"] for row in found]
