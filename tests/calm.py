"""A moment in which others leave the machine some room: for times that are measured, never for promises."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

CALM_S = 15.0
TRIES = 3
Seen = TypeVar("Seen")


async def calm() -> None:
    """Wait until whoever shares the machine leaves half a core of it, but not for ever."""
    until = time.monotonic() + CALM_S
    while time.monotonic() < until:
        before, began = idle(), time.monotonic()
        await asyncio.sleep(0.3)
        if idle() - before >= (time.monotonic() - began) / 2:
            return


async def seen_in_calm(measure: Callable[[], Awaitable[Seen]], is_kept: Callable[[Seen], bool]) -> Seen:
    """What was measured; again, in a calm moment, where a time was missed that whoever shares the machine can spoil.

    A promise is asserted in `measure`: it is kept every time.
    """
    seen = await measure()
    for _ in range(TRIES - 1):
        if is_kept(seen):
            break
        await calm()
        seen = await measure()
    return seen


def idle() -> float:
    """Seconds that the cores of this machine had nothing to do."""
    return int(Path("/proc/stat").read_text().split()[4]) / os.sysconf("SC_CLK_TCK")
