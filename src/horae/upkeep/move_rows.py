"""Brings the rows of a moving shard to the target, and finds out whether both cells have the same ones."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Final, TypeVar

from horae.domain.errors import Unfit
from horae.domain.moves.moves import Move
from horae.store.databases.table_moves import DELETED_AFTER_MOVE
from horae.store.moves import moved_rows, shard_states
from horae.store.moves.moved_rows import Bucket, BucketKeys, MovedTable, RowDigest
from horae.store.protocol import CellProtocol
from horae.store.tenants import widenings
from horae.store.tx import Tx
from horae.upkeep.target_keys import TargetKeys

PAGE: Final = 1000
"""Rows per page."""
Result = TypeVar("Result")
Digests = Mapping[str, RowDigest]
"""Rows by their keys."""


class TargetLostError(Exception):
    """Another coordinator has prepared the target since, or the shard is active there."""


class MovedRows:
    """The rows of one shard in the source and in the target of its move.

    Why the last comparison, for which the shard is closed, reads few rows even of a large shard:

    1. The first comparison reads all rows of both cells. Before it, the source names a horizon: the oldest transaction
       that has not ended.
    2. A row that is new or different since then was written by that transaction or a later one. One statement of the
       source finds these rows by their row version (`xmin`), and computes the checksums of all keys of every bucket.
    3. Both cells read only these rows, by their keys, and the target gets those that differ.
    4. As only this coordinator writes to the target, it knows which keys the target has (`TargetKeys`). Where the
       source has other keys in a bucket, a row was deleted. Only then both cells read a whole table again.

    Tables of which other processes write copies are always compared as a whole.
    """

    def __init__(self, source: CellProtocol, target: CellProtocol, tables: Sequence[MovedTable]) -> None:
        self._source = source
        self._target = target
        self._tables = tables
        self._moved = [table for table in tables if table.name in DELETED_AFTER_MOVE]
        self._shared = [table for table in tables if table.name not in DELETED_AFTER_MOVE]
        self._horizon: str | None = None
        self._there = TargetKeys(table.name for table in self._moved)
        self._here: dict[Bucket, BucketKeys] = {}
        self._changed: dict[str, list[str]] = {}

    @classmethod
    async def of(cls, source: CellProtocol, target: CellProtocol) -> "MovedRows":
        """Read the tables of both cells. Raises Unfit where they differ: then the cells are at different releases."""
        here, there = await asyncio.gather(_read(source, moved_rows.columns), _read(target, moved_rows.columns))
        if here != there:
            raise Unfit(f"{source.name} and {target.name} have different tables: run `horae migrate`, then move again")
        return cls(source, target, here)

    async def copy_all(self, move: Move) -> int:
        """Copy all rows, page by page. Returns how many were read; rows that the target has are not written again."""
        return sum([await self._copy_table(move, table) for table in self._tables])

    async def copy_differences(self, move: Move) -> int:
        """Copy rows that are new or different, delete rows that are gone. Returns how many there were."""
        since, horizon = self._horizon, await _read(self._source, moved_rows.horizon)
        self._horizon = None  # a comparison that is broken off is followed by one of all rows
        if since is None:
            many = await self._copy_by_digests(move, self._tables)
        else:
            many = await self._copy_by_digests(move, self._shared) + await self._copy_changes(move, since)
        self._horizon = horizon
        return many

    async def are_equal(self, move: Move) -> bool:
        """Whether both cells have the same rows: compares again what `copy_differences` compared.

        If they have not, the next `copy_differences` compares all rows.
        """
        equal = not await self._compare(move.shard, self._tables if not self._here else self._shared)
        if equal and self._here:
            equal = not self._there.differing(self._here) and await self._are_changed_rows_equal(move)
        if not equal:
            self._horizon = None
        return equal

    async def _compare(self, shard: int, tables: Sequence[MovedTable]) -> dict[str, list[int]]:
        """Compare all rows of some tables. Returns the buckets that differ, by table."""
        here, there = await self._of_both(lambda tx: moved_rows.digests(tx, tables, shard))
        if tables is self._tables:
            self._there.begin(there)
        wrong: dict[str, list[int]] = {}
        for name, bucket in here.keys() | there.keys():
            if here.get((name, bucket)) != there.get((name, bucket)):
                wrong.setdefault(name, []).append(bucket)
        return wrong

    async def _copy_by_digests(self, move: Move, tables: Sequence[MovedTable]) -> int:
        """Compare all rows of some tables, and copy the differences."""
        self._here = {}
        wrong = await self._compare(move.shard, tables)
        return sum([await self._repair(move, table, wrong[table.name]) for table in tables if table.name in wrong])

    async def _copy_changes(self, move: Move, since: str) -> int:
        """Copy the rows that were written since a horizon, and delete those that are gone."""
        found = await _read(self._source, lambda tx: moved_rows.changes(tx, self._moved, move.shard, since))
        self._here = {bucket: one.keys for bucket, one in found.items()}
        self._changed = defaultdict(list)
        for (name, _), one in found.items():
            self._changed[name] += one.changed
        many = 0
        for table in self._moved:
            async for here, there in self._changed_rows(move, table):
                many += await self._bring(move, table, here, there)
            gone = [number for name, number in self._there.differing(self._here) if name == table.name]
            if gone:
                many += await self._repair(move, table, gone)
        return many

    async def _changed_rows(self, move: Move, table: MovedTable) -> AsyncIterator[tuple[Digests, Digests]]:
        """The rows that were written since the horizon, in both cells, page by page."""
        keys = self._changed[table.name]
        for start in range(0, len(keys), PAGE):
            page = keys[start : start + PAGE]
            yield await self._of_both(partial(moved_rows.keys_of, table=table, shard=move.shard, keys_of_rows=page))

    async def _are_changed_rows_equal(self, move: Move) -> bool:
        for table in self._moved:
            async for here, there in self._changed_rows(move, table):
                if here != there:
                    return False
        return True

    async def raise_widenings(self) -> None:
        """Let the target know of every widening that the source knows of, before a name can be created there."""
        here, there = await self._of_both(moved_rows.widenings)
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
        """Make some buckets of the target as those of the source."""
        here, there = await self._of_both(lambda tx: moved_rows.keys_in(tx, table, move.shard, buckets))
        self._there.count_again(table.name, buckets, there.values())
        return await self._bring(move, table, here, there)

    async def _bring(self, move: Move, table: MovedTable, here: Digests, there: Digests) -> int:
        """Delete the rows that only the target has like this, and write those of the source. Returns how many."""
        wrong = [key for key, digest in there.items() if here.get(key) != digest]
        wanted = [key for key, digest in here.items() if there.get(key) != digest]
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

        async def work(tx: Tx) -> tuple[list[int], list[int]]:
            if not await shard_states.lock_target(tx, move):
                raise TargetLostError(f"shard {move.shard} has another coordinator")
            removed = await moved_rows.remove(tx, table, move.shard, gone) if gone else []
            return removed, [] if rows is None else await moved_rows.insert(tx, table, rows)

        removed, written = await self._target.run(work)
        self._there.remove(table.name, removed)
        self._there.add(table.name, written)

    async def _of_both(self, ask: Callable[[Tx], Awaitable[Result]]) -> tuple[Result, Result]:
        """Ask both cells the same, at the same time."""
        here, there = await asyncio.gather(_read(self._source, ask), _read(self._target, ask))
        return here, there


async def _read(cell: CellProtocol, ask: Callable[[Tx], Awaitable[Result]]) -> Result:
    async with cell.statement() as tx:
        return await ask(tx)
