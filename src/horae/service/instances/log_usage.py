"""How much tenants have logged today, as one process knows it.

Each process adds its bytes to the row of the tenant every few seconds, and learns from it what others have added. So no
append waits for the row of another, and a tenant may exceed its limit by what its processes log in these seconds.
"""

from datetime import date
from typing import Final
from uuid import UUID

import msgspec

from horae.runtime.clock import boottime

WRITE_INTERVAL_S: Final = 5.0
"""Seconds between two writes of a process for one tenant and cell."""
MAX_UNWRITTEN_BYTES: Final = 4 * 1024 * 1024
"""Bytes that a process counts at most before it writes them."""
KEPT_S: Final = 3600.0
"""Seconds after the last line of a tenant for which a process remembers its figures."""


class CellUsage(msgspec.Struct):
    """The bytes of a day in one cell: those of all processes when last written, and those that are not written."""

    day: date
    written: int = 0
    unwritten: int = 0
    written_at: float = float("-inf")
    used_at: float = 0.0


class LogUsage:
    """The figures of one process, by tenant and cell. A hint: what is forgotten is read again."""

    def __init__(self) -> None:
        self._used: dict[UUID, dict[str, CellUsage]] = {}

    def used(self, tenant_id: UUID, day: date) -> int:
        """Returns how many bytes a tenant has logged on a day, as far as known here."""
        of_tenant = self._used.get(tenant_id, {})
        return sum(one.written + one.unwritten for one in of_tenant.values() if one.day == day)

    def add(self, tenant_id: UUID, cell: str, day: date, many: int, most: int) -> int:
        """Count bytes. Returns how many should be written now; 0: later. If the tenant reaches `most`, it is now."""
        used = self._of(tenant_id, cell, day)
        used.unwritten += many
        used.used_at = boottime()
        is_due = used.used_at - used.written_at >= WRITE_INTERVAL_S or used.unwritten >= MAX_UNWRITTEN_BYTES
        return used.unwritten if is_due or self.used(tenant_id, day) >= most else 0

    def learn(self, tenant_id: UUID, cell: str, day: date, wrote: int, total: int) -> None:
        """Learn the figure of the row after this process has added to it."""
        used = self._of(tenant_id, cell, day)
        used.unwritten = max(0, used.unwritten - wrote)
        used.written, used.written_at = total, boottime()

    def forget_old(self) -> None:
        """Forget tenants that have not logged for long."""
        oldest = boottime() - KEPT_S
        for tenant_id, cells in list(self._used.items()):
            if all(one.used_at < oldest for one in cells.values()):
                del self._used[tenant_id]

    def _of(self, tenant_id: UUID, cell: str, day: date) -> CellUsage:
        cells = self._used.setdefault(tenant_id, {})
        if cell not in cells or cells[cell].day != day:
            cells[cell] = CellUsage(day)
        return cells[cell]
