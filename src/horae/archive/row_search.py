"""Searches archived rows, newest first, without reading a day as a whole.

1. A search knows an upper bound for each day, later for each row group of a file: no row in it is newer. Days, row
   groups and single rows wait in one heap, the newest bound first.
2. If the first of the heap is a row, it is the next row of the page. If not, it is opened: a day gives row groups by
   the statistics in its files, a row group gives the rows that match. So rows come in their order, and what cannot
   reach the page is never read.
3. Days with a business key of a job are opened by their index.
4. Several of the first are opened at once, twice as many each time: if matches are rare, most days have to be opened.
5. At its bounds of bytes and seconds the search ends. The bound of the first of the heap is where the next page begins.

A row group is read twice: first the columns that are compared, then, for the rows of the page, the columns of a list.
"""

import heapq
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import date
from functools import partial
from itertools import count
from typing import Any, Final, NamedTuple
from uuid import UUID

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from horae.archive.columns import rows_of
from horae.archive.counted_target import CountedTarget
from horae.archive.index_files import hash_of_id, hash_of_key
from horae.archive.known_files import LISTED, WHOLE, KnownFiles
from horae.archive.manifests import DataFile, GroupFiles
from horae.archive.row_matching import COMPARED, RowMatcher, equal_ids, files_of, first_job, last_job
from horae.archive.row_queries import (
    BoundReached,
    ColdDay,
    DayVanished,
    FoundPage,
    Position,
    ReadMeter,
    RowQuery,
    after,
)
from horae.archive.targets import ArchiveTarget
from horae.domain.errors import ArchiveUnavailable, NotFound
from horae.domain.ids import creation_time

PARALLEL_READS: Final = 8
"""Days and row groups that a process reads at once. Each takes some megabytes."""


class RowGroupPlace(NamedTuple):
    """A row group of a file."""

    day: ColdDay
    file: DataFile
    number: int


class FoundRow(NamedTuple):
    """A row that matches, and where it is."""

    place: RowGroupPlace
    row: int
    id: UUID


class HeapEntry(NamedTuple):
    """Something in the heap: a day, a row group or a row. None of its rows is newer than `bound`."""

    bound: Position
    what: ColdDay | RowGroupPlace | FoundRow


class RowSearcher:
    """Searches the archive behind a target. One per process; its functions block and may run in several threads."""

    def __init__(self, target: ArchiveTarget) -> None:
        self._target, self._known = target, KnownFiles()
        self._threads = ThreadPoolExecutor(PARALLEL_READS, thread_name_prefix="archive-read")

    def close(self) -> None:
        """Begin no further reads."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def page(self, days: Sequence[ColdDay], query: RowQuery, meter: ReadMeter) -> FoundPage:
        """The next rows of a search.

        Raises `DayVanished` where an object of a day is gone, and `ArchiveUnavailable` where the bounds of the meter do
        not suffice for a first step.
        """
        target = CountedTarget(self._target, self._known.objects, meter)
        return RowSearch(self._known, self._threads, target, query).run(days)

    def find(self, days: Iterable[ColdDay], tenant_id: UUID, id_: UUID, meter: ReadMeter) -> dict[str, Any] | None:
        """One row with all its columns. It ended on the day on which it was created, or later."""
        target, created = CountedTarget(self._target, self._known.objects, meter), creation_time(id_).date()
        try:
            for day in sorted(days):
                found = self._find_in(target, day, tenant_id, id_, created) if day.day >= created else None
                if found is not None:
                    return found
        except BoundReached as error:
            raise ArchiveUnavailable("the archive took too long to answer; ask again") from error
        return None

    def _find_in(
        self, target: CountedTarget, day: ColdDay, tenant_id: UUID, id_: UUID, created: date
    ) -> dict[str, Any] | None:
        with vanishing(day):
            group = self._known.group(target, day, tenant_id)
            if group is None or not group.created.get(created):
                return None
            target.meter.count_day(day.day)
            for place in self._known.places(target, group, hash_of_id(id_)):
                file = group.files[place.file]
                table = self._known.read(target, file, place.row_group, ["tenant_id", "id"])
                mask = pc.and_(equal_ids(table, "tenant_id", tenant_id), equal_ids(table, "id", id_))
                indices = pc.indices_nonzero(mask).to_pylist()
                if indices:
                    return rows_of(self._known.read(target, file, place.row_group, WHOLE).take(indices))[0]
        return None


class RowSearch:
    """One search: what has to be opened, and the rows that were found."""

    def __init__(self, known: KnownFiles, threads: ThreadPoolExecutor, target: CountedTarget, query: RowQuery) -> None:
        self._known, self._threads, self._target, self._query = known, threads, target, query
        self._matcher = RowMatcher(query)
        self._heap: list[tuple[int, int, bool, int, HeapEntry]] = []
        self._number = count()

    def run(self, days: Sequence[ColdDay]) -> FoundPage:
        """Find the rows of a page, then read them."""
        try:
            groups = list(self._threads.map(self._group, days))
            bounds = ((self._matcher.bound_of_day(group), day) for group, day in zip(groups, days, strict=True))
            self._push(HeapEntry(bound, day) for bound, day in bounds if bound is not None)
            found, position = self._collect()
            if not found and position == self._query.upper:
                raise BoundReached
            self._target.meter.extend()
            rows = self._read_rows(found)
        except BoundReached as error:
            raise ArchiveUnavailable(
                "the archive cannot answer this search in time; name a job or a shorter time range, or ask again"
            ) from error
        return FoundPage(rows, None if position is None else self._query.mark(position), self._target.meter.cost())

    def _group(self, day: ColdDay) -> GroupFiles | None:
        with vanishing(day):
            return self._known.group(self._target, day, self._query.tenant_id)

    def _collect(self) -> tuple[list[FoundRow], Position | None]:
        """The rows of the page, and the position that the next page begins before."""
        found: dict[UUID, FoundRow] = {}
        position, width = self._query.upper, 1
        while self._heap and len(found) < self._query.limit:
            if isinstance(self._heap[0][-1].what, FoundRow):
                position, row = self._pop()
                assert isinstance(row, FoundRow)
                found.setdefault(row.id, row)
                continue
            entries = self._pop_openable(width)
            width = min(width * 2, PARALLEL_READS)
            opened = list(self._threads.map(self._open, entries))
            for entry, parts in zip(entries, opened, strict=True):
                self._push([entry] if parts is None else parts)
            if any(parts is None for parts in opened):
                first = self._heap[0][-1]
                return list(found.values()), min(position, after(first.bound))
        return list(found.values()), position if self._heap else None

    def _push(self, entries: Iterable[HeapEntry]) -> None:
        for entry in entries:
            is_row = isinstance(entry.what, FoundRow)  # of equal bounds, what is to be opened comes first
            heapq.heappush(self._heap, (-entry.bound[0], -entry.bound[1], is_row, next(self._number), entry))

    def _pop(self) -> HeapEntry:
        return heapq.heappop(self._heap)[-1]

    def _pop_openable(self, most: int) -> list[HeapEntry]:
        entries: list[HeapEntry] = []
        while self._heap and len(entries) < most and not isinstance(self._heap[0][-1].what, FoundRow):
            entries.append(self._pop())
        return entries

    def _open(self, entry: HeapEntry) -> list[HeapEntry] | None:
        """Open a day or a row group. None where the bounds of the search are reached."""
        what = entry.what
        assert not isinstance(what, FoundRow)
        day = what if isinstance(what, ColdDay) else what.day
        try:
            with vanishing(day):
                self._target.meter.check()
                self._target.meter.count_day(day.day)
                return self._rows_in(what) if isinstance(what, RowGroupPlace) else list(self._open_day(what))
        except BoundReached:
            return None

    def _open_day(self, day: ColdDay) -> Iterator[HeapEntry]:
        group = self._known.group(self._target, day, self._query.tenant_id)
        assert group is not None, "a day without rows has no bound"
        job_id, key = self._query.job_id, self._query.sought.business_key
        if job_id is not None and key is not None:
            for file, row_group in set(self._known.places(self._target, group, hash_of_key(job_id, key))):
                yield from self._rows_in(RowGroupPlace(day, group.files[file], row_group))
            return
        for data_file in self._files_with_job(files_of(group, self._query.tenant_id)):
            footer = self._known.footer(self._target, data_file)
            for number in range(footer.num_row_groups):
                bound = self._matcher.bound_of_row_group(footer.row_group(number))
                if bound is not None:
                    yield HeapEntry(bound, RowGroupPlace(day, data_file, number))

    def _files_with_job(self, files: Sequence[DataFile]) -> Iterator[DataFile]:
        """The files that may have rows of the job. They are sorted, so that few footers are read."""
        job_id = self._query.job_id
        if job_id is None:
            yield from files
            return
        wanted = (self._query.tenant_id.bytes, job_id.bytes)
        footer = partial(self._known.footer, self._target)
        first = bisect_left(files, True, key=lambda file: last_job(footer(file)) >= wanted)
        for file in files[first:]:
            if first_job(footer(file)) > wanted:
                return
            yield file

    def _rows_in(self, place: RowGroupPlace) -> list[HeapEntry]:
        """The newest rows of a row group that match; not more than the page has."""
        table = self._known.read(self._target, place.file, place.number, COMPARED)
        newest = self._matcher.newest_of(table)
        return [HeapEntry(one.position, FoundRow(place, one.row, UUID(int=one.position[1]))) for one in newest]

    def _read_rows(self, found: Sequence[FoundRow]) -> list[dict[str, Any]]:
        """The columns of a list, for the rows of the page, in their order."""
        wanted: dict[RowGroupPlace, list[int]] = {}
        for one in found:
            wanted.setdefault(one.place, []).append(one.row)
        by_id = {row["id"]: row for rows in self._threads.map(self._read_some, wanted.items()) for row in rows}
        return [by_id[one.id] for one in found]

    def _read_some(self, part: tuple[RowGroupPlace, list[int]]) -> list[dict[str, Any]]:
        place, indices = part
        with vanishing(place.day):
            return rows_of(self._known.read(self._target, place.file, place.number, LISTED).take(indices))


@contextmanager
def vanishing(day: ColdDay) -> Iterator[None]:
    """Name the day of an object that is gone, or that cannot be read."""
    try:
        yield
    except NotFound as error:
        raise DayVanished(day) from error
    except (pa.ArrowException, msgspec.DecodeError) as error:
        raise ArchiveUnavailable(f"the archive of {day.day} cannot be read: {day.folder.prefix}") from error
