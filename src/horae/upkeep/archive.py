"""Archives closed days of history, takes removed tenants out of archived days, and deletes days over their term.

1. A day is closed when it has ended some minutes ago and every transaction that could write to it has ended: the first
   round after the end notes a transaction id, and a later round finds that all transactions up to it are over.
2. A closed day waits for subscriptions that have not been sent all of it, until it is over its term in PostgreSQL.
3. Its rows are read page by page, sorted, written, read back and compared with the table by count and checksum. Then
   the manifest is written, and recorded in the register of the cell.
4. A round may be killed anywhere. The next one finds either no manifest, and writes the day again, or a manifest, and
   records it if it still has the rows of the table. If not, it writes the next generation.
5. One process at a time works on the archive of a cell.
"""

import asyncio
import tempfile
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar
from uuid import UUID, uuid4

from horae import archive
from horae.archive.layout import DayFolder
from horae.archive.manifests import ID_SUM_MODULUS, Checksum, Manifest, StateSum, add_checksums
from horae.archive.targets import ArchiveTarget
from horae.domain.errors import Conflict, HoraeError, NewerRelease, Unavailable
from horae.runtime.telemetry import log
from horae.store.cells import Cell
from horae.store.connections.each_cell import UNSERVED, Visits, ask_each
from horae.store.databases import archived_days, days
from horae.store.databases.archived_days import ArchivedDay, ArchiveState
from horae.store.databases.days import Day, DayState
from horae.store.store import Store
from horae.store.tenants import tenants

if TYPE_CHECKING:
    from horae.store.connections.deadlines import Connection

Result = TypeVar("Result")
NOT_DONE: Final[tuple[type[Exception], ...]] = (HoraeError, *UNSERVED)
"""Errors after which the next round tries a cell again."""
CLOSING_MARGIN: Final = timedelta(minutes=5)
"""Time after the end of a day before its closing transaction id is noted: clocks of nodes differ by less."""
THREADS: Final = 2
"""Days that are sorted and written at the same time. Each takes some hundred megabytes of memory."""
PURGE_MARGIN: Final = timedelta(hours=1)
"""Time by which the clocks of two cells differ at most, when both say when a tenant was purged."""


class DayArchiver:
    """A duty: archive the closed days of every cell.

    `kept`: how long days stay in PostgreSQL; `expiry`: how long they stay in the archive.
    """

    def __init__(self, store: Store, target: ArchiveTarget, kept: timedelta, expiry: timedelta) -> None:
        self.store, self.target, self.kept, self.expiry = store, target, kept, expiry
        self._threads = ThreadPoolExecutor(THREADS, "archive")
        self.failures: dict[str, str] = {}
        """Why the last round failed, by the name of the cell; cells without a failure are missing."""
        self._visits = Visits("dayarchiver", NOT_DONE)
        self._writing = archive.load("day_writer")
        self._reading = archive.load("day_reader")
        self._rewriting = archive.load("rewriting")

    async def once(self) -> int:
        """Visit each cell once. Returns how many days were written or deleted."""
        return await self._visits.each(self.store.cells, self._try_visit)

    async def _try_visit(self, cell: Cell) -> int:
        """Visit a cell, and keep the reason if that fails."""
        try:
            done = await self._visit(cell)
        except NOT_DONE as error:
            self.failures[cell.name] = str(error) or type(error).__name__
            raise
        self.failures.pop(cell.name, None)
        return done

    async def _visit(self, cell: Cell) -> int:
        purged = await self._purged_tenants()
        async with cell.direct(owner=True) as connection:
            if not await archived_days.lock(connection):
                return 0
            done = 0
            for day, known in await self._closed_days(cell, connection):
                try:
                    await self._archive(cell, connection, day, known)
                except (Conflict, NewerRelease) as error:  # of this day alone: the others go on
                    log.warning("archive.day_postponed", cell=cell.name, day=f"{day.day}", reason=str(error))
                else:
                    done += 1
            done += await self._clear(cell, connection, purged)
            return done + await self._expire(cell, connection)

    async def _closed_days(self, cell: Cell, connection: "Connection") -> list[tuple[Day, ArchivedDay]]:
        """The days that are to be archived now: closed, not archived, and read by every subscription."""
        now, readers = cell.clock.now(), await days.readers(connection)
        found = await archived_days.listing(connection)
        closed = []
        for day in await days.listing(connection):
            if day.parent != days.HISTORY or day.end > now - CLOSING_MARGIN or day.state == DayState.DETACHING:
                continue  # the rows of a day that is being detached cannot be read before that is finished
            if day.day not in found:
                await archived_days.begin(connection, day.day, uuid4())
                continue
            is_read = all(reader.sent_until >= day.end for reader in readers) or day.end <= now - self.kept
            if found[day.day].state == ArchiveState.CLOSING and found[day.day].is_closed and is_read:
                closed.append((day, found[day.day]))
        return closed

    async def _archive(self, cell: Cell, connection: "Connection", day: Day, known: ArchivedDay) -> None:
        """Let the archive have exactly the rows of a closed day, and record that. Raises where it is not possible."""
        began = cell.clock.now()
        folder = DayFolder(day.day, known.archive_id)
        wanted = await checksum_of(connection, day)
        newest, generation = await self._in_thread(self._reading.state_of, self.target, folder)
        if newest is not None and newest.checksum == wanted and not await self._missing(newest):
            await self._record(cell, connection, newest, known.cleared_until or began)
            return
        manifest = await self._write(connection, day, folder, generation)
        if manifest.checksum != await checksum_of(connection, day):
            raise Conflict(f"{day.day} of {cell.name} has changed while it was read")
        await self._publish(connection, manifest)
        await self._record(cell, connection, manifest, began)

    async def why_unsafe(self, connection: "Connection", day: Day) -> str:
        """Why a day must not be dropped: the archive does not have exactly its rows. Empty where it may be dropped.

        A day that is archived with other rows, or whose files are gone, is archived again by the next round.
        """
        known = (await archived_days.listing(connection)).get(day.day)
        if known is None or known.state != ArchiveState.ARCHIVED:
            return "not archived yet"
        try:
            newest = await self._in_thread(
                self._reading.newest_manifest, self.target, DayFolder(day.day, known.archive_id)
            )
            if newest is not None and not await self._missing(newest):
                if newest.checksum == await checksum_of(connection, day):
                    return ""
                reason = "the day has other rows than its archive"
            else:
                reason = "files of the archive are missing"
        except HoraeError as error:
            return str(error)
        await archived_days.reopen(connection, day.day)
        log.warning("archive.day_differs", day=f"{day.day}", reason=reason)
        return reason

    async def _in_thread(self, call: Callable[..., Result], *args: object) -> Result:
        """Run what blocks or computes for long. The threads are our own: those of the loop look up host names."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, call, *args)

    async def _missing(self, manifest: Manifest) -> list[str]:
        missing: list[str] = await self._in_thread(self._reading.missing_objects, self.target, manifest)
        if missing:
            log.error("archive.objects_missing", day=f"{manifest.day}", objects=len(missing), first=missing[0])
        return missing

    async def _write(self, connection: "Connection", day: Day, folder: DayFolder, generation: int) -> Manifest:
        with tempfile.TemporaryDirectory(prefix="horae-archive-", ignore_cleanup_errors=True) as work:
            writer = self._writing.DayWriter(self.target, folder, Path(work))
            for span in archived_days.page_spans(await archived_days.pages(connection, day)):
                path = Path(work) / f"pages-{span[0]}.csv"
                await _copy(connection, day, span, path)
                await self._in_thread(writer.add, path)
                path.unlink()
            for group in await self._in_thread(writer.groups):
                await self._in_thread(writer.write_group, group)
            manifest: Manifest = writer.manifest(generation)
            return manifest

    async def _publish(self, connection: "Connection", manifest: Manifest) -> None:
        if not await archived_days.is_locked(connection):  # then another process may delete what this one has written
            raise Conflict(f"the archive of {manifest.day} belongs to another process now")
        await self._in_thread(self._writing.publish, self.target, manifest)

    async def _record(self, cell: Cell, connection: "Connection", manifest: Manifest, cleared_until: datetime) -> None:
        """Record a manifest. What it replaces is deleted before, so that the next round completes a killed one."""
        await self._in_thread(self._writing.delete_replaced, self.target, manifest)
        now, facts = cell.clock.now(), (manifest.generation, manifest.rows, manifest.bytes)
        if not await archived_days.record(connection, manifest.day, *facts, now, cleared_until):
            raise Conflict(f"the archive of {manifest.day} is being deleted")
        log.info(
            "archive.day_written",
            cell=cell.name,
            day=f"{manifest.day}",
            generation=manifest.generation,
            rows=manifest.rows,
            bytes=manifest.bytes,
        )

    async def _purged_tenants(self) -> "PurgedTenants":
        """All tenants that were purged as long ago as days are archived, as far as cells answer."""

        async def purged_in(cell: Cell) -> dict[UUID, datetime]:
            async with cell.statement() as tx:
                return await tenants.purged_since(tx, tx.now - self.kept - self.expiry)

        answers = await ask_each(self.store.cells, purged_in)
        found = {tenant_id: at for part in answers.found.values() for tenant_id, at in part.items()}
        return PurgedTenants(found, is_complete=not answers.down)

    async def _clear(self, cell: Cell, connection: "Connection", purged: "PurgedTenants") -> int:
        """Take the rows of purged tenants out of archived days."""
        done = 0
        for known in (await archived_days.listing(connection)).values():
            if known.state != ArchiveState.ARCHIVED or known.cleared_until is None:
                continue
            until = cell.clock.now() if purged.is_complete else known.cleared_until
            if lately := purged.since(known.cleared_until - PURGE_MARGIN):
                done += await self._clear_day(cell, connection, known, lately, until)
        return done

    async def _clear_day(
        self, cell: Cell, connection: "Connection", known: ArchivedDay, lately: Collection[UUID], until: datetime
    ) -> int:
        folder = DayFolder(known.day, known.archive_id)
        newest = await self._in_thread(self._reading.newest_manifest, self.target, folder)
        if newest is None:  # a rule of the bucket has deleted it: nobody's rows are left
            await archived_days.record_clearance(connection, known.day, until)
            return 0
        manifest = await self._in_thread(self._rewriting.write_without, self.target, newest, lately)
        if manifest is not None:
            await self._publish(connection, manifest)
        elif newest.generation == known.generation:
            await archived_days.record_clearance(connection, known.day, until)
            return 0
        await self._record(cell, connection, manifest or newest, until)  # an earlier round may have been killed here
        return 1

    async def _expire(self, cell: Cell, connection: "Connection") -> int:
        """Delete the objects of days over their term."""
        done = 0
        for known in (await archived_days.listing(connection)).values():
            is_over = known.day + timedelta(days=1) <= (cell.clock.now() - self.expiry).date()
            if known.state == ArchiveState.CLOSING or known.dropped_at is None or not is_over:
                continue
            await archived_days.mark_expiring(connection, known.day)
            folder = DayFolder(known.day, known.archive_id)
            deleted = await self._in_thread(self._writing.delete_day, self.target, folder)
            await archived_days.forget(connection, known.day)
            log.info("archive.day_deleted", cell=cell.name, day=f"{known.day}", objects=deleted)
            done += 1
        return done


class PurgedTenants(NamedTuple):
    """Tenants that were purged, and when. `is_complete`: all cells have answered."""

    found: dict[UUID, datetime]
    is_complete: bool

    def since(self, time: datetime) -> set[UUID]:
        """The tenants that were purged since a time."""
        return {tenant_id for tenant_id, purged_at in self.found.items() if purged_at >= time}


async def checksum_of(connection: "Connection", day: Day) -> Checksum:
    """The checksum of the table of a day, comparable to that of a manifest.

    Raises `Unavailable` where PostgreSQL knows of rows, and shows none: then row-level security hides them.
    """
    spans = archived_days.page_spans(await archived_days.pages(connection, day))
    found = [one for span in spans for one in await archived_days.checksum(connection, day, span)]
    if not found and await archived_days.known_rows(connection, day) > 0:
        raise Unavailable(f"the role of HORAE_CELLS' upkeep_dsn sees no rows of {day.partition}, and it has some")
    return add_checksums({one.state: StateSum(one.rows, one.ids % ID_SUM_MODULUS)} for one in found)


async def _copy(connection: "Connection", day: Day, span: tuple[int, int], path: Path) -> None:
    with path.open("wb") as file:

        async def write(part: bytes) -> None:
            file.write(part)

        await archived_days.copy_rows(connection, day, span, write)
