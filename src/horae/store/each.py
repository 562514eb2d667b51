"""Asking and visiting every cell, so that one that is down hurts only what lives there.

`ask_each` is for someone who waits for an answer, `Visits` for a duty that comes round again and again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Final, Generic, NamedTuple, TypeVar

from horae.domain.errors import ShardClosed
from horae.runtime.ending import ended
from horae.runtime.telemetry import log
from horae.store.cells import Cell
from horae.store.reach import hurrying
from horae.store.tx import CUT, GONE, LOCKED, NO_ROOM, Tx

Result = TypeVar("Result")
UNSERVED: Final[tuple[type[Exception], ...]] = (*GONE, *CUT, *LOCKED, *NO_ROOM)
"""Why a duty leaves a cell out: it cannot be reached, or cannot do this now. Later the same may pass."""
UNSERVED_OR_MOVING: Final[tuple[type[Exception], ...]] = (ShardClosed, *UNSERVED)
HOME_DOWN: Final[tuple[type[Exception], ...]] = (ShardClosed, *GONE)
"""Why the home of a row cannot be asked: it cannot be reached, or has not been since this process began."""
LOOK_INTERVAL_S: Final = 0.25
"""Seconds after which a round looks again whether what it waits for is known to be down."""
GRACE_S: Final = 0.2
"""Seconds that a round waits for cells that are down: one that is back answers within them."""


class Answers(NamedTuple, Generic[Result]):
    """What the cells answered, and the names of those that are down."""

    found: dict[Cell, Result]
    down: list[str]


async def ask_each(cells: Sequence[Cell], ask: Callable[[Cell], Awaitable[Result]]) -> Answers[Result]:
    """Ask all cells at once. One that cannot be reached is left out and named; any other error is raised."""
    asked = await asyncio.gather(*(_ask(cell, ask) for cell in cells), return_exceptions=True)
    found: dict[Cell, Result] = {}
    down: list[str] = []
    for cell, answer in zip(cells, asked, strict=True):
        if isinstance(answer, GONE):
            down.append(cell.name)
        elif isinstance(answer, BaseException):
            raise answer
        else:
            found[cell] = answer
    return Answers(found, down)


async def _ask(cell: Cell, ask: Callable[[Cell], Awaitable[Result]]) -> Result:
    patience_s = cell.reach.patience_s
    if patience_s is None:
        return await ask(cell)
    with hurrying():
        async with asyncio.timeout(patience_s):
            return await ask(cell)


async def ask_by_statement(look: Callable[[Tx], Awaitable[Result]], cell: Cell) -> Result:
    """A look by single statements, in one cell."""
    async with cell.statement() as tx:
        return await look(tx)


async def ask_first(cells: Iterable[Cell], look: Callable[[Tx], Awaitable[Result | None]]) -> Result | None:
    """What the first cell that can be reached knows; None where it knows nothing. Raises where none can be reached."""
    lost: Exception = ConnectionError("no cell can be asked")
    for cell in cells:
        try:
            return await ask_by_statement(look, cell)
        except GONE as error:
            lost = error
    raise lost


class Part(NamedTuple):
    """A part of a round: the cells it needs, and what is done there. It returns how much that was."""

    cells: Sequence[Cell]
    work: Callable[[], Awaitable[int | None]]


class Visits:
    """What a duty does in each cell, round by round.

    1. Each part of a round is a task of its own, so no cell waits for its turn behind another.
    2. A part that ends with an error of `unserved` is left out. That is said once for each kind of error, not at every
       round; that a cell is down its reach has said.
    3. A round waits until its parts are done, but not for those that need a cell which is known to be down, or that
       failed the last time: these go on by themselves, and are not begun again before they have ended.
    4. Any other error is a mistake. It is raised after all other parts had their time.
    """

    def __init__(self, duty: str, unserved: tuple[type[Exception], ...] = UNSERVED) -> None:
        self._duty = duty
        self._unserved = unserved
        self._going: dict[str, asyncio.Task[int]] = {}
        self._left_out: dict[str, type[Exception]] = {}

    @property
    def unserved(self) -> list[str]:
        """The names of the parts whose last work was not done."""
        return sorted({*self._left_out, *self._going})

    async def each(self, cells: Iterable[Cell], visit: Callable[[Cell], Awaitable[int | None]]) -> int:
        """One round over cells, a part for each; returns how much was done."""
        return await self.round({cell.name: Part([cell], partial(visit, cell)) for cell in cells})

    async def round(self, parts: Mapping[str, Part]) -> int:
        """One round of named parts; returns how much was done, also by parts of an earlier round."""
        for name, part in parts.items():
            if name not in self._going:
                self._going[name] = asyncio.create_task(self._do(name, part))
        try:
            await self._wait(parts)
        except asyncio.CancelledError:
            await ended(*self._going.values())
            self._going.clear()  # the next round has its own
            raise
        over = {name: task for name, task in self._going.items() if task.done()}
        for name in over:
            del self._going[name]
        failed = {name: error for name, task in over.items() if (error := _error_of(task)) is not None}
        for name, error in list(failed.items())[1:]:
            log.error("duty.failed", duty=self._duty, cell=name, exc_info=error)
        for error in failed.values():
            raise error  # the loop says it
        return sum(task.result() for task in over.values())

    async def _wait(self, parts: Mapping[str, Part]) -> None:
        while waited := [task for name, task in self._going.items() if self._is_waited_for(name, task, parts)]:
            await asyncio.wait(waited, timeout=LOOK_INTERVAL_S)
        if self._going:
            await asyncio.wait(self._going.values(), timeout=GRACE_S)

    def _is_waited_for(self, name: str, task: asyncio.Task[int], parts: Mapping[str, Part]) -> bool:
        if task.done() or name in self._left_out or name not in parts:
            return False
        return not any(cell.reach.is_down for cell in parts[name].cells)

    async def _do(self, name: str, part: Part) -> int:
        try:
            done = await part.work()
        except self._unserved as error:
            kind = ConnectionError if isinstance(error, GONE) else type(error)
            is_known = kind is ConnectionError and any(cell.reach.is_down for cell in part.cells)  # told of already
            if self._left_out.get(name) is not kind and not is_known:
                reason = str(error)[:500] or type(error).__name__
                log.warning("duty.cell_left_out", duty=self._duty, cell=name, reason=reason)
            self._left_out[name] = kind
            return 0
        self._left_out.pop(name, None)
        return done or 0


def _error_of(task: "asyncio.Task[int]") -> BaseException | None:
    """What a task ended with; a library may cancel what it lost with a connection."""
    return asyncio.CancelledError() if task.cancelled() else task.exception()
