"""Brings the rows of a moving shard to the target, and finds out whether both cells have the same ones."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from horae.domain.errors import Unfit
from horae.domain.moves.moves import Move
from horae.store.databases.table_moves import DELETED_AFTER_MOVE
from horae.store.moves import moved_rows, shard_states
from horae.store.moves.moved_rows import Buckets, Digest, MovedTable
from horae.store.protocol import CellProtocol
from horae.store.tenants import widenings
from horae.store.tx import Tx

PAGE: Final = 1000
"""Rows per page."""
MAX_NAMED_BUCKETS: Final = 200
"""Where more buckets of a table may differ, all of them are compared."""


class TargetLostError(Exception):
    """Another coordinator has prepared the target since, or the shard is active there."""


class MovedRows:
    """The rows of one shard in the source and in the target of its move.

    It remembers which buckets of rows were equal in both cells, and the row versions that the source had then. As only
    this coordinator writes to the target, a bucket whose versions are the same is still equal. So the last comparison,
    for which the shard is closed, reads few rows even of a large shard.
    """

    def __init__(self, source: CellProtocol, target: CellProtocol, tables: Sequence[MovedTable]) -> None:
        self._source = source
        self._target = target
        self._tables = tables
        self._equal: dict[tuple[str, int], int] = {}
        self._doubtful: dict[str, Buckets] = {table.name: None for table in tables}

    @classmethod
    async def of(cls, source: CellProtocol, target: CellProtocol) -> "MovedRows":
        """Read the tables of both cells. Raises Unfit where they differ: then the cells are at different releases."""
        here, there = await asyncio.gather(_tables_of(source), _tables_of(target))
        if here != there:
            raise Unfit(f"{source.name} and {target.name} have different tables: run `horae migrate`, then move again")
        return cls(source, target, here)

    async def copy_all(self, move: Move) -> int:
        """Copy all rows, page by page. Returns how many were read; rows that the target has are not written again."""
        return sum([await self._copy_table(move, table) for table in self._tables])

    async def copy_differences(self, move: Move) -> int:
        """Copy rows that are new or different, delete rows that are gone. Returns how many there were.

        1. The source computes the version checksums of all buckets. Buckets that were equal and have the same versions
           are left out. Tables of which other processes write copies are always compared.
        2. Both cells compute the digests of the other buckets, at the same time.
        3. Of the buckets that differ, both send their keys, each with the checksum of its row.
        4. The target deletes every row that the source does not have like this, and gets those of the source.
        """
        self._doubtful = await self._find_doubtful(move.shard)
        wrong = await self._compare(move.shard)
        return sum(
            [await self._repair(move, table, wrong[table.name]) for table in self._tables if table.name in wrong]
        )

    async def are_equal(self, move: Move) -> bool:
        """Whether both cells have the same rows: compares the buckets again that `copy_differences` compared."""
        return not await self._compare(move.shard)

    async def _find_doubtful(self, shard: int) -> dict[str, Buckets]:
        """The buckets that may differ, by table; None means all buckets of a table."""
        async with self._source.statement() as tx:
            found = await moved_rows.versions(tx, self._tables, shard)
        changed: dict[str, list[int]] = defaultdict(list)
        for name, bucket in found.keys() | self._equal.keys():
            if found.get((name, bucket)) != self._equal.get((name, bucket)):
                changed[name].append(bucket)
        first = not self._equal
        doubtful: dict[str, Buckets] = {}
        for table in self._tables:
            many = len(changed[table.name])
            if first or many > MAX_NAMED_BUCKETS or table.name not in DELETED_AFTER_MOVE:
                doubtful[table.name] = None
            elif many:
                doubtful[table.name] = changed[table.name]
        return doubtful

    async def _compare(self, shard: int) -> dict[str, list[int]]:
        """Compare the doubtful buckets in both cells. Returns those that differ, and remembers those that are equal."""
        wrong: dict[str, list[int]] = {}
        for table in self._tables:
            if table.name not in self._doubtful:
                continue
            buckets = self._doubtful[table.name]
            here, there = await asyncio.gather(
                _digests_of(self._source, table, shard, buckets), _digests_of(self._target, table, shard, buckets)
            )
            for bucket in here.keys() | there.keys():
                mine, other = here.get(bucket), there.get(bucket)
                if mine is not None and other is not None and mine[:2] == other[:2]:
                    self._equal[table.name, bucket] = mine.version
                else:
                    self._equal.pop((table.name, bucket), None)
                    wrong.setdefault(table.name, []).append(bucket)
            for bucket in buckets or ():
                if bucket not in here and bucket not in there:
                    self._equal.pop((table.name, bucket), None)
        return wrong

    async def raise_widenings(self) -> None:
        """Let the target know of every widening that the source knows of, before a name can be created there."""
        here, there = await asyncio.gather(_widenings_of(self._source), _widenings_of(self._target))
        behind = {tenant: number for tenant, number in here.items() if number > there.get(tenant, 0)}
        if behind:
            async with self._target.tx() as tx:
                for tenant, number in sorted(behind.items()):
                    await widenings.write(tx, tenant, number)

    async def _copy_table(self, move: Move, table: MovedTable) -> int:
        async with self._source.statement() as tx:
            page = await moved_rows.first_page(tx, table, move.shard, PAGE)
        many = page.many
        while page.rows is not None:
            await self._write(move, table, [], page.rows)
            if page.last is None:
                break
            async with self._source.statement() as tx:
                page = await moved_rows.next_page(tx, table, move.shard, PAGE, page.last)
            many += page.many
        return many

    async def _repair(self, move: Move, table: MovedTable, buckets: Sequence[int]) -> int:
        here, there = await asyncio.gather(
            _keys_of(self._source, table, move.shard, buckets), _keys_of(self._target, table, move.shard, buckets)
        )
        wrong = [key for key, checksum in there.items() if here.get(key) != checksum]
        wanted = [key for key, checksum in here.items() if there.get(key) != checksum]
        if wrong:
            await self._write(move, table, wrong, None)  # first: a new row may have the unique name of an old one
        for start in range(0, len(wanted), PAGE):
            async with self._source.statement() as tx:
                rows = await moved_rows.rows_of(tx, table, move.shard, wanted[start : start + PAGE])
            if rows is not None:
                await self._write(move, table, [], rows)
        return len({*wrong, *wanted})

    async def _write(self, move: Move, table: MovedTable, gone: Sequence[str], rows: str | None) -> None:
        """Delete and write rows in the target, under the epoch of this coordinator."""

        async def work(tx: Tx) -> None:
            if not await shard_states.lock_target(tx, move):
                raise TargetLostError(f"shard {move.shard} has another coordinator")
            if gone:
                await moved_rows.remove(tx, table, move.shard, gone)
            if rows is not None:
                await moved_rows.insert(tx, table, rows)

        await self._target.run(work)


async def _tables_of(cell: CellProtocol) -> list[MovedTable]:
    async with cell.statement() as tx:
        return await moved_rows.columns(tx)


async def _digests_of(cell: CellProtocol, table: MovedTable, shard: int, buckets: Buckets) -> dict[int, Digest]:
    async with cell.statement() as tx:
        return await moved_rows.digests(tx, table, shard, buckets)


async def _keys_of(cell: CellProtocol, table: MovedTable, shard: int, buckets: Sequence[int]) -> dict[str, int]:
    async with cell.statement() as tx:
        return await moved_rows.keys(tx, table, shard, buckets)


async def _widenings_of(cell: CellProtocol) -> dict[UUID, int]:
    async with cell.statement() as tx:
        return await moved_rows.widenings(tx)
