"""Reads the archive for callers: in threads beside the event loop, and one read of a tenant at a time."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, TypeVar
from uuid import UUID

from horae import archive
from horae.archive.row_queries import MAX_READ_S, ColdDay, FoundPage, ReadMeter, RowQuery
from horae.archive.targets import ArchiveTarget
from horae.domain.errors import ArchiveUnavailable, NewerRelease, RateLimited, Unavailable
from horae.runtime.sharing import SharedPlaces

Result = TypeVar("Result")
MOST_READS: Final = 4
"""Reads of the archive at once in a process. Each takes some tens of megabytes."""
MOST_WAITING: Final = 4
"""Reads of one tenant that may wait for their turn; one more is refused."""
RETRY_AFTER_S: Final = 1.0


class ArchiveReader:
    """One per process. A read that nobody waits for any more ends at its next request, and keeps its place until then.

    `seconds`: how long a read may take.
    """

    def __init__(self, target: ArchiveTarget, seconds: float = MAX_READ_S) -> None:
        self._searcher = archive.load("row_search").RowSearcher(target)
        self._places = SharedPlaces(most=MOST_READS, most_of_one=1)
        self._seconds = seconds
        self._reads: set[asyncio.Task[Any]] = set()

    async def page(self, days: Sequence[ColdDay], query: RowQuery, seconds: float | None = None) -> FoundPage:
        """Returns rows of a tenant. Raises as `horae.archive.row_search.RowSearcher.page` does."""
        meter = ReadMeter(self._seconds if seconds is None else min(seconds, self._seconds))
        return await self._read(query.tenant_id, meter, partial(self._searcher.page, days, query, meter))

    async def find(
        self, days: Sequence[ColdDay], tenant_id: UUID, id_: UUID
    ) -> tuple[dict[str, Any] | None, ReadMeter]:
        """Returns one row of a tenant, and what was read for it; None where the days do not have it."""
        meter = ReadMeter(self._seconds)
        return await self._read(tenant_id, meter, partial(self._searcher.find, days, tenant_id, id_, meter)), meter

    async def close(self) -> None:
        """Wait for the reads under way."""
        if self._reads:
            await asyncio.wait(self._reads)
        self._searcher.close()

    async def _read(self, tenant_id: UUID, meter: ReadMeter, work: Callable[[], Result]) -> Result:
        if self._places.users(tenant_id) > MOST_WAITING:
            raise RateLimited("too many reads of the tenant's archive are under way already", RETRY_AFTER_S)
        task = asyncio.create_task(self._in_place(tenant_id, meter, work))
        self._reads.add(task)
        task.add_done_callback(self._reads.discard)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            meter.cancel()
            task.add_done_callback(_take_error)
            raise

    async def _in_place(self, tenant_id: UUID, meter: ReadMeter, work: Callable[[], Result]) -> Result:
        async with self._places.of(tenant_id):
            meter.restart()
            try:
                return await asyncio.to_thread(work)
            except (ArchiveUnavailable, NewerRelease):
                raise
            except Unavailable as error:
                raise ArchiveUnavailable(str(error)) from error


def _take_error(task: "asyncio.Task[Any]") -> None:
    """The caller is gone, and with it the interest in an error."""
    if not task.cancelled():
        task.exception()
