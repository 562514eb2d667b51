"""Tasks are told to end by a cancellation, and a library may swallow one.

`asyncio.wait_for` before Python 3.12 does when an answer comes in the same turn of the loop; a client that awaits its
messages one by one, in it, loses most of them. Others raise a cancellation of their own when a connection is lost. So
nobody trusts the exception alone: a loop asks whether it was told, and whoever tells it asks until it is over.
"""

import asyncio
from typing import Any, Final

AGAIN: Final = 10.0
"""Seconds in which whoever heard it has let go of what he holds; whoever has not is told again."""


def told() -> bool:
    """Whether somebody wants this task to end; a cancellation without it is a failure like any other."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def ended(*tasks: asyncio.Task[Any]) -> None:
    """Tell them to end, and wait until they have; how they ended is nobody's business any more."""
    left = {task for task in tasks if not task.done()}
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=AGAIN)
    await asyncio.gather(*tasks, return_exceptions=True)
