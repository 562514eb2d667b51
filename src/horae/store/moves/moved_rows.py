"""The rows of a moving shard: read in pages, written as they are, compared by checksums.

One statement serves every table: a table differs only in its names, which come from the catalog. Rows travel as the
text of an array of rows, so that every value arrives as it was, whatever its type.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple
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


class BucketKeys(NamedTuple):
    """How many rows a bucket of a table has, and the checksum of their keys: equal in two cells with the same keys."""

    many: int
    keys: int


class Digest(NamedTuple):
    """The keys of a bucket, and the checksum of its rows: equal in two cells that have the same rows."""

    keys: BucketKeys
    checksum: int


class RowDigest(NamedTuple):
    """The hash of a row's key, and the checksum of the row."""

    hash: int
    checksum: int


class ChangedBucket(NamedTuple):
    """The keys of a bucket, and those of its rows that were written since a horizon."""

    keys: BucketKeys
    changed: list[str]


BUCKETS: Final = 1024
"""As many as the statements have: the bucket of a row is the remainder of the hash of its key."""
Bucket = tuple[str, int]
"""The name of a table, and the number of one of its buckets."""


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


async def insert(tx: Tx, table: MovedTable, rows: str) -> list[int]:
    """Write rows. A row whose key or unique name is taken is left out. Returns the hashes of the keys written."""
    statement = sql("moves/moved_rows/insert")
    return [row["hash"] for row in await tx.rows(table.fill_in(statement), rows)]


async def digests(tx: Tx, tables: Iterable[MovedTable], shard: int) -> dict[Bucket, Digest]:
    """The digests of all buckets of some tables, by one statement. An empty bucket is missing."""
    one = sql("moves/moved_rows/digests")
    rows = await tx.rows(_union(one, tables), shard)
    return {(row["name"], row["bucket"]): Digest(BucketKeys(row["many"], row["keys"]), row["checksum"]) for row in rows}


async def horizon(tx: Tx) -> str:
    """The oldest transaction that has not ended. What a later statement does not see is written by it or after it."""
    found: str = await tx.value(sql("moves/moved_rows/horizon"))
    return found


async def changes(tx: Tx, tables: Iterable[MovedTable], shard: int, since: str) -> dict[Bucket, ChangedBucket]:
    """All buckets of some tables, and the rows written since a horizon, by one statement that reads only the keys."""
    one = sql("moves/moved_rows/changes")
    rows = await tx.rows(_union(one, tables), shard, since)
    return {
        (row["name"], row["bucket"]): ChangedBucket(BucketKeys(row["many"], row["keys"]), row["changed"] or [])
        for row in rows
    }


async def keys_in(tx: Tx, table: MovedTable, shard: int, buckets: Sequence[int]) -> dict[str, RowDigest]:
    """The keys of some buckets, each with the digest of its row. It reads the whole table of the shard."""
    statement = sql("moves/moved_rows/keys_in")
    rows = await tx.rows(table.fill_in(statement), shard, buckets)
    return {row["key"]: RowDigest(row["hash"], row["checksum"]) for row in rows}


async def keys_of(tx: Tx, table: MovedTable, shard: int, keys_of_rows: Sequence[str]) -> dict[str, RowDigest]:
    """Those of these keys that the shard has, each with the digest of its row. It reads these rows only."""
    statement = sql("moves/moved_rows/keys_of")
    rows = await tx.rows(table.fill_in(statement), shard, _array(keys_of_rows))
    return {row["key"]: RowDigest(row["hash"], row["checksum"]) for row in rows}


async def rows_of(tx: Tx, table: MovedTable, shard: int, keys_of_rows: Sequence[str]) -> str | None:
    """The rows with these keys; None where there is none."""
    statement = sql("moves/moved_rows/rows_of")
    rows: str | None = await tx.value(table.fill_in(statement), shard, _array(keys_of_rows))
    return rows


async def remove(tx: Tx, table: MovedTable, shard: int, keys_of_rows: Sequence[str]) -> list[int]:
    """Delete the rows with these keys. Returns the hashes of the keys deleted."""
    statement = sql("moves/moved_rows/remove")
    return [row["hash"] for row in await tx.rows(table.fill_in(statement), shard, _array(keys_of_rows))]


async def remove_page(tx: Tx, table: MovedTable, shard: int, limit: int) -> int:
    """Delete some rows of a shard. Returns how many there were."""
    statement = sql("moves/moved_rows/remove_page")
    return len(await tx.rows(table.fill_in(statement), shard, limit))


async def widenings(tx: Tx) -> dict[UUID, int]:
    """How often each tenant was widened, as this cell knows."""
    return {row["tenant_id"]: row["number"] for row in await tx.rows(sql("moves/moved_rows/widenings"))}


def _union(statement: str, tables: Iterable[MovedTable]) -> str:
    """One statement for some tables."""
    return " union all ".join(table.fill_in(statement) for table in tables)


def _array(keys_of_rows: Iterable[str]) -> str:
    """Keys, each as the text of a JSON object, as the text of one JSON array."""
    return f"[{','.join(keys_of_rows)}]"
