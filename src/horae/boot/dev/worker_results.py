"""Reports what ends outside of this process, for the stream of `horae dev`: what workers and targets finish by the API.

An attempt that fails and is tried again has no line: its row says no longer which worker had it.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Final
from uuid import UUID

from horae.domain.instances.lifecycle import FINAL, State
from horae.domain.instances.searches import InstanceFilter
from horae.service.context import Context
from horae.service.instances import searches
from horae.service.instances.searches import Bounds, InstanceRecord

WORKER_RESULTS_INTERVAL_S: Final = 1.0
REPORTED_SPAN: Final = timedelta(minutes=10)
"""How old the fire of an instance may be: a result that comes later has no line."""
MAX_REPORTED: Final = 100
"""Instances that one round reads."""
REPORTED_STATES: Final = tuple(sorted(FINAL - {State.SKIPPED}))

OnWorkerResult = Callable[[InstanceRecord], None]
"""Called with an instance that a worker has ended."""


class WorkerResults:
    """A duty: read the latest fires of one tenant, and report each result of a worker once."""

    def __init__(self, ctx: Context, on_result: OnWorkerResult) -> None:
        self.ctx = ctx
        self.on_result = on_result
        self._reported: frozenset[UUID] = frozenset()
        self._began = ctx.store.clock.now()

    async def once(self) -> int:
        """Report what is new, oldest first. Returns 0: the next round can wait."""
        now = self.ctx.store.clock.now()
        since = max(self._began, now - REPORTED_SPAN)
        sought = InstanceFilter(states=REPORTED_STATES, since=since, until=now)
        page = await searches.by_fire_time(self.ctx, sought, bounds=Bounds(MAX_REPORTED))
        ended = [one for one in reversed(page.found) if one.worker_id is not None]
        for one in ended:
            if one.id not in self._reported:
                self.on_result(one)
        self._reported = frozenset(one.id for one in ended)
        return 0
