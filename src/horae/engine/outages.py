"""Counts the fires that an outage of a cell made late, and says so in one line when the node has caught up."""

from typing import Final

from horae.runtime.clock import boottime
from horae.runtime.telemetry import log, time_ago
from horae.store.connections.reachability import Reach

LATE_MS: Final = 1000
"""A first attempt that is later than this was late."""
QUIET_S: Final = 5.0
"""Seconds without a late fire after which a node has caught up. It is longer than the pause between two scans."""
MAX_CATCH_UP_S: Final = 600.0
"""Seconds after which the line is logged even though there are still late fires: the backlog has other reasons, too."""


class OutageWatch:
    """Watches the outages of one cell. A second outage before the end of the catching up belongs to the first.

    1. `look` sees that the cell is down: the outage begins.
    2. `count_late` counts each late first attempt that was due since then.
    3. `look` sees that the cell is up and that no late fire came for some seconds: it logs `cell.caught_up`.
    """

    def __init__(self, cell: str, reach: Reach) -> None:
        self._cell = cell
        self._reach = reach
        self._since: float | None = None
        self._up_at: float | None = None
        self._late_at = 0.0
        self._late_fires = 0

    def count_late(self, delay_ms: int) -> None:
        """Count a first attempt that was sent so late, if it was due during the outage or while catching up."""
        now = boottime()
        since = self._reach.down_at if self._since is None else self._since
        if since is not None and now - delay_ms / 1000 >= since - LATE_MS / 1000:
            self._late_fires += 1
            self._late_at = now

    def look(self) -> None:
        """Follow the state of the cell. Cheap: called twice a second."""
        now, reach = boottime(), self._reach
        if self._since is None:
            self._since = reach.down_at
            return
        if reach.is_down:
            self._up_at = None
            return
        self._up_at = now if self._up_at is None else self._up_at
        if now - max(self._up_at, self._late_at) < QUIET_S and now - self._up_at < MAX_CATCH_UP_S:
            return
        self._log(now)
        self._since, self._up_at, self._late_fires = None, None, 0
        reach.forget_outage()

    def _log(self, now: float) -> None:
        assert self._since is not None
        assert self._up_at is not None
        log.info(
            "cell.caught_up",
            cell=self._cell,
            down_since=time_ago(now - self._since),
            down_seconds=round(self._up_at - self._since, 1),
            late_fires=self._late_fires,
        )
