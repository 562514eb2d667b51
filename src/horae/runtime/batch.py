"""A batch that fails is halved until the bad row stands alone: one bad row never holds up ninety-nine good ones."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

Row = TypeVar("Row")
Result = TypeVar("Result")


class Refused(NamedTuple, Generic[Row]):
    """A row that fails on its own, with the reason it gave."""

    row: Row
    reason: str


class Halved(NamedTuple, Generic[Row, Result]):
    """What came of a batch: the results of the good rows, and the bad ones alone."""

    results: list[Result]
    refused: list[Refused[Row]]


async def halve(
    rows: Sequence[Row],
    run: Callable[[Sequence[Row]], Awaitable[list[Result]]],
    bad_row: tuple[type[Exception], ...],
) -> Halved[Row, Result]:
    """Run a batch; where it fails because of a row (`bad_row`), run its halves. Each run is its own transaction."""
    if not rows:
        return Halved([], [])
    try:
        return Halved(await run(rows), [])
    except bad_row as error:
        if len(rows) == 1:
            return Halved([], [Refused(rows[0], str(error))])
    middle = len(rows) // 2
    left = await halve(rows[:middle], run, bad_row)
    right = await halve(rows[middle:], run, bad_row)
    return Halved(left.results + right.results, left.refused + right.refused)
