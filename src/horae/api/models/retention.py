"""Models of retention: how long things are kept, and where the days of history are."""

from datetime import date, datetime

import msgspec
from pydantic import Field

from horae.api.models.base import ResponseModel
from horae.domain.health.growth import ArchiveLag, LagReason, RetentionTerms
from horae.domain.health.retention import DayPlace
from horae.service.health.retention import CellRetention, DroppedRow, PlacedDay, Retention


class RetentionTermsView(ResponseModel):
    """How many days the nodes keep what, by their settings."""

    history: int = Field(description="Ended instances, events and results.")
    held: int = Field(description="Days that history is kept longer for a subscription that has not read it.")
    logs: int
    dead_letters: int
    ended_jobs: int
    audit: int
    archive: int | None = Field(description="Days in the archive, after PostgreSQL; null: there is no archive.")

    @classmethod
    def of(cls, terms: RetentionTerms) -> "RetentionTermsView":
        """Returns the view of the terms."""
        return cls(**msgspec.structs.asdict(terms))


class ArchiveLagView(ResponseModel):
    """Days that have ended and are not archived, and why the oldest one waits."""

    days: int
    oldest: date
    reason: LagReason = Field(
        description="`FAILED`: the archive could not be written or read. `OPEN_TRANSACTIONS`: a transaction that could "
        "write to the day has not ended. `UNREAD`: a subscription has not been sent the day. `DUE`: the next round "
        "archives it."
    )
    subscriptions: list[str]
    failure: str = Field(description="What the last round of the archive failed with; empty: it did not fail.")

    @classmethod
    def of(cls, lag: ArchiveLag) -> "ArchiveLagView":
        """Returns the view of a lag."""
        return cls(**msgspec.structs.asdict(lag) | {"subscriptions": list(lag.subscriptions)})


class RetentionDayView(ResponseModel):
    """A day of a cell by UTC, and where its history is."""

    day: date
    place: DayPlace = Field(
        description="`OPEN`: today. `HOT`: in PostgreSQL alone. `WAITING`: in PostgreSQL alone, until the archive has "
        "it. `BOTH`, `ARCHIVED`: in the archive alone. `DELETING`: it is being deleted from the archive."
    )
    bytes: int | None = Field(description="Of its tables in PostgreSQL with indexes; null: they are dropped.")
    archived_rows: int | None
    archived_bytes: int | None
    archived_at: datetime | None
    dropped_at: datetime | None = Field(description="When its table was dropped after it was archived.")

    @classmethod
    def of(cls, one: PlacedDay) -> "RetentionDayView":
        """Returns the view of a day."""
        facts = one.row._asdict()
        del facts["state"]
        return cls(place=one.place, **facts)


class DroppedDaysView(ResponseModel):
    """Up to which day the rows of a table were dropped."""

    table: str
    kept_since: date = Field(description="The first day that is not dropped.")
    dropped_at: datetime

    @classmethod
    def of(cls, row: DroppedRow) -> "DroppedDaysView":
        """Returns the view of a row."""
        return cls(table=row.parent, kept_since=row.until_day, dropped_at=row.dropped_at)


class CellRetentionView(ResponseModel):
    """The days of a cell, and how far its archive is behind by the last measurement of a node."""

    cell: str
    measured_at: datetime | None
    lag: ArchiveLagView | None
    days: list[RetentionDayView]
    dropped: list[DroppedDaysView]

    @classmethod
    def of(cls, one: CellRetention) -> "CellRetentionView":
        """Returns the view of a cell."""
        measured = one.growth
        return cls(
            cell=one.cell,
            measured_at=None if measured is None else measured.measured_at,
            lag=None if measured is None or measured.lag is None else ArchiveLagView.of(measured.lag),
            days=[RetentionDayView.of(day) for day in one.days],
            dropped=[DroppedDaysView.of(row) for row in one.dropped],
        )


class RetentionView(ResponseModel):
    """How long things are kept, and since when there are rows. `cells`: only for the tenant `system`."""

    terms: RetentionTermsView | None = Field(description="Null until a node has measured.")
    hot_since: date | None = Field(description="The oldest day with rows in PostgreSQL, of any cell.")
    archived_since: date | None = Field(description="The oldest day in the archive, of any cell.")
    cells: list[CellRetentionView] = []
    cells_down: list[str] = []

    @classmethod
    def of(cls, one: Retention, *, with_cells: bool) -> "RetentionView":
        """Returns the view of the retention, with or without that of each cell."""
        return cls(
            terms=None if one.terms is None else RetentionTermsView.of(one.terms),
            hot_since=one.hot_since,
            archived_since=one.archived_since,
            cells=[CellRetentionView.of(cell) for cell in one.cells] if with_cells else [],
            cells_down=one.cells_down,
        )
