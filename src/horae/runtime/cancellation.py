"""Ends asyncio tasks reliably, although a library may swallow a cancellation.

1. `asyncio.wait_for` before Python 3.12 swallows a cancellation if the result arrives in the same iteration of the
   event loop. A client that awaits messages one by one inside `wait_for` loses most cancellations.
2. Other libraries raise `CancelledError` themselves when a connection is lost.

So the exception alone proves nothing. A loop checks whether its task was cancelled, and the caller cancels a task again
until it has ended.
"""

import asyncio
from typing import Any, Final

RECANCEL_INTERVAL_S: Final = 10.0
"""Seconds after which a task that has not ended is cancelled again."""


def cancellation_requested() -> bool:
    """Whether the current task was cancelled. If not, a `CancelledError` is an ordinary failure."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def cancel_and_wait(*tasks: asyncio.Task[Any]) -> None:
    """Cancel tasks and wait until all have ended. Their results and errors are ignored."""
    left = {task for task in tasks if not task.done()}
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=RECANCEL_INTERVAL_S)
    await asyncio.gather(*tasks, return_exceptions=True)
