"""Which rows a search wants: by the description of a day, by the statistics of a row group, by the rows themselves."""

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from horae.archive.columns import ID, MOMENT
from horae.archive.known_files import COLUMN
from horae.archive.manifests import DataFile, GroupFiles
from horae.archive.row_queries import Position, RowQuery, micros_of, position_of_id
from horae.domain.instances.searches import LAST_ID, smallest_id_at

COMPARED: Final = ["tenant_id", "job_id", "fire_time", "id", "state", "business_key"]
"""The columns that a search compares."""
ROW: Final = "row"


class MatchingRow(NamedTuple):
    """The position of a row in the order of the search, and its number in the row group."""

    position: Position
    row: int


class RowMatcher:
    """Compares days, row groups and rows with what a search wants."""

    def __init__(self, query: RowQuery) -> None:
        self._query = query
        self._upper, self._lower = query.upper, query.lower

    def bound_of_day(self, group: GroupFiles | None) -> Position | None:
        """The newest position that a day can have; None where it has no row that is wanted."""
        files = [] if group is None else files_of(group, self._query.tenant_id)
        if group is None or not files:
            return None
        if self._query.is_by_fire_time:
            first, last = min(one.first_fire for one in files), max(one.last_fire for one in files)
            return self._newest_between((micros_of(first), 0), (micros_of(last), LAST_ID.int))
        first_id, last_id = _first_id(min(group.created)), _first_id(max(group.created) + timedelta(days=1))
        return self._newest_between(position_of_id(first_id), position_of_id(last_id))

    def bound_of_row_group(self, row_group: pq.RowGroupMetaData) -> Position | None:
        """The newest position that a row group can have; None where it has no row that is wanted."""
        if not all(_may_have(row_group, name, values) for name, values in self._wanted_values()):
            return None
        known = row_group.column(COLUMN["fire_time" if self._query.is_by_fire_time else "id"]).statistics
        if self._query.is_by_fire_time:
            return self._newest_between((micros_of(known.min), 0), (micros_of(known.max), LAST_ID.int))
        first_id, last_id = UUID(bytes=known.min), UUID(bytes=known.max)
        return self._newest_between(position_of_id(first_id), position_of_id(last_id))

    def _newest_between(self, first: Position, last: Position) -> Position | None:
        if last < self._lower or first >= self._upper:
            return None
        at, id_ = self._upper
        return min(last, (at, id_ - 1) if id_ else (at - 1, LAST_ID.int))

    def newest_of(self, table: pa.Table) -> list[MatchingRow]:
        """The newest rows of a row group that match; not more than a page has."""
        table = table.append_column(ROW, pa.array(range(table.num_rows), pa.int32())).filter(self._matches(table))
        order = [("fire_time", "descending"), ("id", "descending")][0 if self._query.is_by_fire_time else 1 :]
        newest = table.take(pc.sort_indices(table, order)[: self._query.limit]).select(["fire_time", "id", ROW])
        return [
            MatchingRow(self._query.position(one["fire_time"], UUID(bytes=one["id"])), one[ROW])
            for one in newest.to_pylist()
        ]

    def _wanted_values(self) -> Iterator[tuple[str, Sequence[Any]]]:
        """The values that columns must have."""
        yield "tenant_id", [self._query.tenant_id.bytes]
        if self._query.job_id is not None:
            yield "job_id", [self._query.job_id.bytes]
        if self._query.sought.states:
            yield "state", [str(state) for state in self._query.sought.states]
        if self._query.sought.business_key is not None:
            yield "business_key", [self._query.sought.business_key]

    def _matches(self, table: pa.Table) -> pa.ChunkedArray:
        whole = self._matches_time(table)
        for name, values in self._wanted_values():
            whole = pc.and_(whole, pc.is_in(table[name], pa.array(values, table[name].type)))
        return whole

    def _matches_time(self, table: pa.Table) -> pa.ChunkedArray:
        upper_id, lower_id = (pa.scalar(UUID(int=one[1]).bytes, ID) for one in (self._upper, self._lower))
        if not self._query.is_by_fire_time:
            return pc.and_(pc.less(table["id"], upper_id), pc.greater_equal(table["id"], lower_id))
        upper, lower = (pa.scalar(one[0], pa.int64()).cast(MOMENT) for one in (self._upper, self._lower))
        at_upper = pc.and_(pc.equal(table["fire_time"], upper), pc.less(table["id"], upper_id))
        before = pc.or_(pc.less(table["fire_time"], upper), at_upper)
        return pc.and_(before, pc.greater_equal(table["fire_time"], lower))


def files_of(group: GroupFiles, tenant_id: UUID) -> list[DataFile]:
    """The files of a group that may have rows of a tenant."""
    return [file for file in group.files if file.first_tenant <= tenant_id <= file.last_tenant]


def equal_ids(table: pa.Table, name: str, id_: UUID) -> pa.ChunkedArray:
    """Which rows have an id in a column."""
    return pc.equal(table[name], pa.scalar(id_.bytes, ID))


def first_job(footer: pq.FileMetaData) -> tuple[bytes, bytes]:
    """Tenant and job of the first row of a file, or less."""
    tenants, jobs = (footer.row_group(0).column(COLUMN[name]).statistics for name in ("tenant_id", "job_id"))
    return tenants.min, jobs.min if tenants.min == tenants.max else bytes(16)


def last_job(footer: pq.FileMetaData) -> tuple[bytes, bytes]:
    """Tenant and job of the last row of a file, or more."""
    last = footer.row_group(footer.num_row_groups - 1)
    tenants, jobs = (last.column(COLUMN[name]).statistics for name in ("tenant_id", "job_id"))
    return tenants.max, jobs.max if tenants.min == tenants.max else LAST_ID.bytes


def _may_have(row_group: pq.RowGroupMetaData, name: str, values: Sequence[Any]) -> bool:
    """Whether one of some values may be in a column, by its statistics."""
    known = row_group.column(COLUMN[name]).statistics
    if known is None:
        return True
    if not known.has_min_max:
        return bool(known.null_count < row_group.num_rows)
    first, last = known.min, known.max
    return any(first <= value <= last for value in values)


def _first_id(day: date) -> UUID:
    return smallest_id_at(datetime.combine(day, time(), UTC))
