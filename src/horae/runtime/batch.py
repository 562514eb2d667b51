"""Halves a batch that fails until the bad row is alone: one bad row does not stop ninety-nine good ones."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

Row = TypeVar("Row")
Result = TypeVar("Result")


class RefusedRow(NamedTuple, Generic[Row]):
    """A row that fails even alone, with the reason."""

    row: Row
    reason: str


class BatchOutcome(NamedTuple, Generic[Row, Result]):
    """The results of the good rows, and the bad rows."""

    results: list[Result]
    refused: list[RefusedRow[Row]]


async def halve(
    rows: Sequence[Row],
    run: Callable[[Sequence[Row]], Awaitable[list[Result]]],
    bad_row: tuple[type[Exception], ...],
) -> BatchOutcome[Row, Result]:
    """Run a batch. If it raises one of `bad_row`, run its halves. Each run is a separate transaction."""
    if not rows:
        return BatchOutcome([], [])
    try:
        return BatchOutcome(await run(rows), [])
    except bad_row as error:
        if len(rows) == 1:
            return BatchOutcome([], [RefusedRow(rows[0], str(error))])
    middle = len(rows) // 2
    left = await halve(rows[:middle], run, bad_row)
    right = await halve(rows[middle:], run, bad_row)
    return BatchOutcome(left.results + right.results, left.refused + right.refused)
