"""The rows of a moving shard: read in pages, written as they are, compared by checksums.

One statement serves every table: a table differs only in its names, which come from the catalog. Rows travel as the
text of an array of rows, so that every value arrives as it was, whatever its type.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, NamedTuple
from uuid import UUID

from horae.store.databases.table_moves import COPIED_IN_MOVE, TABLE_MOVES
from horae.store.statements import sql
from horae.store.tx import Tx


class MovedTable(NamedTuple):
    """A table whose rows are copied: its columns with their types, and its primary key."""

    name: str
    columns: tuple[tuple[str, str], ...]
    key: tuple[str, ...]

    def fill_in(self, statement: str) -> str:
        """The statement for this table. Only names of the catalog are put in, each of them in quotes."""
        return statement.format(
            table=self.name,
            shard_column=TABLE_MOVES[self.name].shard_column,
            key='", t."'.join(self.key),
            after='", a."'.join(self.key),
            columns='", t."'.join(name for name, _ in self.columns),
        )


class MovedPage(NamedTuple):
    """Some rows of a table as text, and the key after which the next page begins; None at the end."""

    many: int
    rows: str | None
    last: Any


class Digest(NamedTuple):
    """How many rows a bucket of a table has, their checksum, and the checksum of their keys and row versions.

    Two cells have the same rows where `many` and `checksum` are equal. `version` is only comparable within a cell.
    """

    many: int
    checksum: int
    version: int


Buckets = Sequence[int] | None
"""Some of the 1,024 buckets of a table; None: all of them."""


async def columns(tx: Tx) -> list[MovedTable]:
    """The tables whose rows a move copies, as this cell has them."""
    rows = await tx.rows(sql("moves/moved_rows/columns"), COPIED_IN_MOVE)
    found = []
    for name, group in groupby(rows, lambda row: row["name"]):
        own = list(group)
        key = sorted((row["key_place"], row["column"]) for row in own if row["key_place"] is not None)
        found.append(
            MovedTable(name, tuple((row["column"], row["type"]) for row in own), tuple(column for _, column in key))
        )
    return found


async def first_page(tx: Tx, table: MovedTable, shard: int, limit: int) -> MovedPage:
    """The first rows of a shard in the order of their key."""
    statement = sql("moves/moved_rows/first_page")
    row = await tx.row(table.fill_in(statement), shard, limit)
    assert row is not None
    return MovedPage(*row)


async def next_page(tx: Tx, table: MovedTable, shard: int, limit: int, after: object) -> MovedPage:
    """The rows of a shard after a key."""
    statement = sql("moves/moved_rows/next_page")
    row = await tx.row(table.fill_in(statement), shard, limit, after)
    assert row is not None
    return MovedPage(*row)


async def insert(tx: Tx, table: MovedTable, rows: str) -> None:
    """Write rows. A row whose key or unique name is taken is left out."""
    statement = sql("moves/moved_rows/insert")
    await tx.run(table.fill_in(statement), rows)


async def digests(tx: Tx, table: MovedTable, shard: int, buckets: Buckets) -> dict[int, Digest]:
    """The digests of some buckets of a table. An empty bucket is missing."""
    statement = sql("moves/moved_rows/digests")
    rows = await tx.rows(table.fill_in(statement), shard, buckets)
    return {row["bucket"]: Digest(row["many"], row["checksum"], row["version"]) for row in rows}


async def versions(tx: Tx, tables: Iterable[MovedTable], shard: int) -> dict[tuple[str, int], int]:
    """The version checksums of all buckets by table and bucket, by one statement. It reads no column but the keys."""
    one = sql("moves/moved_rows/versions")
    statement = " union all ".join(table.fill_in(one) for table in tables)
    return {(row["name"], row["bucket"]): row["version"] for row in await tx.rows(statement, shard)}


async def keys(tx: Tx, table: MovedTable, shard: int, buckets: Sequence[int]) -> dict[str, int]:
    """The keys of some buckets, each with the checksum of its row."""
    statement = sql("moves/moved_rows/keys")
    rows = await tx.rows(table.fill_in(statement), shard, buckets)
    return {row["key"]: row["checksum"] for row in rows}


async def rows_of(tx: Tx, table: MovedTable, shard: int, keys_of_rows: Sequence[str]) -> str | None:
    """The rows with these keys; None where there is none."""
    statement = sql("moves/moved_rows/rows_of")
    rows: str | None = await tx.value(table.fill_in(statement), shard, _array(keys_of_rows))
    return rows


async def remove(tx: Tx, table: MovedTable, shard: int, keys_of_rows: Sequence[str]) -> int:
    """Delete the rows with these keys. Returns how many there were."""
    statement = sql("moves/moved_rows/remove")
    return len(await tx.rows(table.fill_in(statement), shard, _array(keys_of_rows)))


async def remove_page(tx: Tx, table: MovedTable, shard: int, limit: int) -> int:
    """Delete some rows of a shard. Returns how many there were."""
    statement = sql("moves/moved_rows/remove_page")
    return len(await tx.rows(table.fill_in(statement), shard, limit))


async def widenings(tx: Tx) -> dict[UUID, int]:
    """How often each tenant was widened, as this cell knows."""
    return {row["tenant_id"]: row["number"] for row in await tx.rows(sql("moves/moved_rows/widenings"))}


def _array(keys_of_rows: Iterable[str]) -> str:
    """Keys, each as the text of a JSON object, as the text of one JSON array."""
    return f"[{','.join(keys_of_rows)}]"
