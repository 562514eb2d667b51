"""Reports to the service manager: when the process is ready, that it makes progress, and that it stops.

The reports run in the event loop that does the work: a loop that stands still sends nothing, and the watchdog of the
service manager restarts the process. A process whose loop turns is restarted, too, if it makes no progress and the
reason is in the process. A database that is down is no such reason.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from horae.domain.health.readiness import CellState, ReadyState, needs_restart, ready_state
from horae.runtime.cancellation import cancel_and_wait
from horae.runtime.loop import Loop
from horae.runtime.service_manager import READY, STOPPING, WATCHDOG, ServiceManager, status_line

REPORT_INTERVAL_S: Final = 1.0
REPORTS_PER_WATCHDOG: Final = 4
"""Reports within the time of the watchdog. systemd advises two or more; one or two may come late on a busy machine."""


@asynccontextmanager
async def report_to_service_manager(cells: Callable[[], list[CellState]]) -> AsyncIterator[None]:
    """Report the state of the cells while the block runs. Does nothing where no service manager waits for it."""
    manager = ServiceManager.of(os.environ)
    if manager is None:
        yield
        return
    pause_s = min(REPORT_INTERVAL_S, (manager.watchdog_s or REPORT_INTERVAL_S) / REPORTS_PER_WATCHDOG)
    reporting = asyncio.create_task(Loop("service manager", ServiceReporter(manager, cells), pause_s).run())
    try:
        yield
    finally:
        await cancel_and_wait(reporting)
        manager.send(STOPPING, status_line("stopping"))


class ServiceReporter:
    """A duty: each round sends what has changed, and feeds the watchdog."""

    def __init__(self, manager: ServiceManager, cells: Callable[[], list[CellState]]) -> None:
        self._manager = manager
        self._cells = cells
        self._was_ready = False
        self._status = ""

    async def once(self) -> int:
        """Send one report; returns 0. What could not be sent is sent again in the next round."""
        cells = self._cells()
        state = ready_state(cells, loop_silence_s=0.0)  # the loop turns: this is one of its turns
        status = status_line(_sentence(state))
        lines = [READY] if state.ready and not self._was_ready else []
        if self._manager.watchdog_s is not None and not needs_restart(cells):
            lines.append(WATCHDOG)
        if status != self._status:
            lines.append(status)
        if lines and self._manager.send(*lines):
            self._was_ready, self._status = self._was_ready or state.ready, status
        return 0


def _sentence(state: ReadyState) -> str:
    if not state.ready:
        return f"not ready: {'; '.join(state.reasons)}"
    return f"ready, except in {'; '.join(state.reasons)}" if state.degraded else "ready"
