"""Asks or visits every cell, so that a cell that is down affects only its own rows.

`ask_each` is for a caller that waits for an answer, `Visits` for a duty that runs in rounds.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Final, Generic, NamedTuple, TypeVar

from horae.domain.errors import ShardClosed
from horae.runtime.cancellation import cancel_and_wait
from horae.runtime.telemetry import log
from horae.store.connections.reachability import wait_briefly
from horae.store.protocol import CellProtocol
from horae.store.tx import CUT, GONE, LOCKED, NO_ROOM, Tx

Result = TypeVar("Result")
SomeCell = TypeVar("SomeCell", bound=CellProtocol)
UNSERVED: Final[tuple[type[Exception], ...]] = (*GONE, *CUT, *LOCKED, *NO_ROOM)
"""Errors after which a duty skips a cell: the cell is unreachable, or cannot do this now. A later round may succeed."""
UNSERVED_OR_MOVING: Final[tuple[type[Exception], ...]] = (ShardClosed, *UNSERVED)
HOME_DOWN: Final[tuple[type[Exception], ...]] = (ShardClosed, *GONE)
"""Errors of a row's home cell: it is unreachable, or has not been reachable since this process started."""
DOWN_CHECK_INTERVAL_S: Final = 0.25
"""Seconds between two checks of whether a cell that the round waits for is known to be down."""
DOWN_CELL_GRACE_S: Final = 0.2
"""Seconds that a round waits for cells that are down: a cell that is back answers within this time."""


class Answers(NamedTuple, Generic[SomeCell, Result]):
    """What the cells answered, and the names of the cells that are down."""

    found: dict[SomeCell, Result]
    down: list[str]


async def ask_each(
    cells: Sequence[SomeCell], ask: Callable[[SomeCell], Awaitable[Result]]
) -> Answers[SomeCell, Result]:
    """Ask all cells at the same time.

    A cell that cannot be reached is left out and named in `down`. Any other error is raised.
    """
    asked = await asyncio.gather(*(_ask(cell, ask) for cell in cells), return_exceptions=True)
    found: dict[SomeCell, Result] = {}
    down: list[str] = []
    for cell, answer in zip(cells, asked, strict=True):
        if isinstance(answer, GONE):
            down.append(cell.name)
        elif isinstance(answer, BaseException):
            raise answer
        else:
            found[cell] = answer
    return Answers(found, down)


async def _ask(cell: SomeCell, ask: Callable[[SomeCell], Awaitable[Result]]) -> Result:
    patience_s = cell.reach.patience_s
    if patience_s is None:
        return await ask(cell)
    with wait_briefly():
        async with asyncio.timeout(patience_s):
            return await ask(cell)


async def ask_by_statement(look: Callable[[Tx], Awaitable[Result]], cell: CellProtocol) -> Result:
    """Run single statements in one cell."""
    async with cell.statement() as tx:
        return await look(tx)


async def ask_first(cells: Iterable[CellProtocol], look: Callable[[Tx], Awaitable[Result | None]]) -> Result | None:
    """What the first reachable cell answers; None if it has no such row. Raises if no cell is reachable."""
    lost: Exception = ConnectionError("no cell can be asked")
    for cell in cells:
        try:
            return await ask_by_statement(look, cell)
        except GONE as error:
            lost = error
    raise lost


class CellPart(NamedTuple):
    """One part of a round: the cells it needs, and its work, which returns how much it has done."""

    cells: Sequence[CellProtocol]
    work: Callable[[], Awaitable[int | None]]


class Visits:
    """The work of a duty in each cell, round by round.

    1. Each part of a round is a separate task, so no cell waits for another one.
    2. A part that fails with an error of `unserved` is skipped in this round. This is logged once for each kind of
       error, not in every round. `Reach` already logs that a cell is down.
    3. A round waits until its parts are done, except for parts that need a cell which is known to be down, or that
       failed in the round before. Those parts continue in the background and are not started again before they end.
    4. Any other error is a bug. It is raised after all other parts have had their time.
    """

    def __init__(self, duty: str, unserved: tuple[type[Exception], ...] = UNSERVED) -> None:
        self._duty = duty
        self._unserved = unserved
        self._going: dict[str, asyncio.Task[int]] = {}
        self._left_out: dict[str, type[Exception]] = {}

    @property
    def unserved(self) -> list[str]:
        """The names of the parts whose last work failed or has not ended."""
        return sorted({*self._left_out, *self._going})

    async def each(self, cells: Iterable[SomeCell], visit: Callable[[SomeCell], Awaitable[int | None]]) -> int:
        """Run one round over cells, with one part for each; returns how much was done."""
        return await self.round({cell.name: CellPart([cell], partial(visit, cell)) for cell in cells})

    async def round(self, parts: Mapping[str, CellPart]) -> int:
        """Run one round of named parts; returns how much was done, including by parts of an earlier round."""
        for name, part in parts.items():
            if name not in self._going:
                self._going[name] = asyncio.create_task(self._do(name, part))
        try:
            await self._wait(parts)
        except asyncio.CancelledError:
            await cancel_and_wait(*self._going.values())
            self._going.clear()  # the next round starts its own tasks
            raise
        over = {name: task for name, task in self._going.items() if task.done()}
        for name in over:
            del self._going[name]
        failed = {name: error for name, task in over.items() if (error := _error_of(task)) is not None}
        for name, error in list(failed.items())[1:]:
            log.error("duty.failed", duty=self._duty, cell=name, exc_info=error)
        for error in failed.values():
            raise error  # the loop logs it
        return sum(task.result() for task in over.values())

    async def _wait(self, parts: Mapping[str, CellPart]) -> None:
        while waited := [task for name, task in self._going.items() if self._is_waited_for(name, task, parts)]:
            await asyncio.wait(waited, timeout=DOWN_CHECK_INTERVAL_S)
        if self._going:
            await asyncio.wait(self._going.values(), timeout=DOWN_CELL_GRACE_S)

    def _is_waited_for(self, name: str, task: asyncio.Task[int], parts: Mapping[str, CellPart]) -> bool:
        if task.done() or name in self._left_out or name not in parts:
            return False
        return not any(cell.reach.is_down for cell in parts[name].cells)

    async def _do(self, name: str, part: CellPart) -> int:
        try:
            done = await part.work()
        except self._unserved as error:
            kind = ConnectionError if isinstance(error, GONE) else type(error)
            is_known = kind is ConnectionError and any(cell.reach.is_down for cell in part.cells)  # `Reach` logged it
            if self._left_out.get(name) is not kind and not is_known:
                reason = str(error)[:500] or type(error).__name__
                log.warning("duty.cell_skipped", duty=self._duty, cell=name, reason=reason)
            self._left_out[name] = kind
            return 0
        self._left_out.pop(name, None)
        return done or 0


def _error_of(task: "asyncio.Task[int]") -> BaseException | None:
    """The error that a task ended with. A library may cancel a task when it loses its connection."""
    return asyncio.CancelledError() if task.cancelled() else task.exception()
