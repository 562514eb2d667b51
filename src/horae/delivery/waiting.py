"""Turns a callback into an `await`, for callers that can afford a future."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


async def wait_for_callback(begin: Callable[[Callable[[Result], None]], None]) -> Result:
    """Call `begin` with a callback, and wait for the result that the callback gets."""
    future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()

    def done(result: Result) -> None:
        if not future.done():  # the waiting task may have been cancelled
            future.set_result(result)

    begin(done)
    return await future
