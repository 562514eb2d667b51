"""From a callback to an `await`, for callers to whom a future more or less is nothing."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


async def answered(begin: Callable[[Callable[[Result], None]], None]) -> Result:
    """Begin something that reports to a callback, and wait for the report."""
    future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()

    def done(result: Result) -> None:
        if not future.done():  # whoever waited may have given up
            future.set_result(result)

    begin(done)
    return await future
