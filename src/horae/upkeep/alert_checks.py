"""Runs the checks of alert rules apart from each other: one that fails leaves out what it is about, and nothing else.

1. Each check has a transaction of its own. A statement that is cut ends only its check.
2. A check that failed is logged, and rests for a while. The others go on.
3. What a failed check is about keeps its open alerts: nobody knows whether the fault has ended.
"""

from collections.abc import Awaitable, Callable, Collection, Iterable
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.alerts.alerts import RuleFault
from horae.domain.alerts.kinds import AlertKind
from horae.domain.errors import HoraeError
from horae.runtime.setbacks import Setbacks
from horae.runtime.telemetry import log
from horae.store.events import feeds
from horae.store.protocol import CellProtocol
from horae.store.tx import CUT, GONE, NO_ROOM, Tx

OF_THE_CELL: Final[tuple[type[Exception], ...]] = (*GONE, *NO_ROOM)
"""Errors that are no fault of a check: the cell does not answer."""
EXPECTED: Final[tuple[type[Exception], ...]] = (HoraeError, *CUT)
"""Errors that are logged without a traceback."""
TenantKind = tuple[UUID, AlertKind]
"""A tenant, and the kind of its rules that a check is about."""


class CheckName(NamedTuple):
    """What is checked in a cell: all rules about `what`, of one tenant or (None) of all tenants."""

    cell: str
    tenant: str | None
    what: str


class RuleChecks:
    """Runs checks, and remembers those that failed."""

    def __init__(self) -> None:
        self._setbacks = Setbacks()
        self._failed: dict[CheckName, frozenset[TenantKind]] = {}

    async def run(
        self,
        cell: CellProtocol,
        name: CheckName,
        about: Iterable[TenantKind],
        check: Callable[[Tx], Awaitable[list[RuleFault]]],
    ) -> list[RuleFault]:
        """Return what a check finds: nothing while it rests, and where it is about no rule."""
        concerned = frozenset(about)
        self._failed.pop(name, None)
        if not concerned:
            return []
        if self._setbacks.may_try(name):
            try:
                async with cell.tx() as tx:
                    await feeds.wide(tx)
                    found = await check(tx)
            except OF_THE_CELL:
                raise
            except Exception as error:
                self._record_failure(name, error)
            else:
                self._setbacks.record_success(name)
                return found
        self._failed[name] = concerned
        return []

    def unchecked(self, cell: str, tenants: Collection[UUID]) -> list[TenantKind]:
        """Return the tenants and kinds of a cell whose last check failed. Other tenants are forgotten."""
        self._failed = {
            name: left
            for name, about in self._failed.items()
            if (left := frozenset(one for one in about if name.cell != cell or one[0] in tenants))
        }
        return sorted({one for name, about in self._failed.items() if name.cell == cell for one in about})

    def _record_failure(self, name: CheckName, error: Exception) -> None:
        pause_s = self._setbacks.record_failure(name)
        reason = str(error)[:500] or type(error).__name__
        facts = {"cell": name.cell, "tenant": name.tenant, "check": name.what, "pause_s": pause_s, "reason": reason}
        log.warning("alert.check_failed", exc_info=None if isinstance(error, EXPECTED) else error, **facts)
