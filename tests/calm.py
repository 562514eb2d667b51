"""A moment in which others leave the machine some room: for times that are measured, never for promises."""

import asyncio
import os
import time
from pathlib import Path

CALM_S = 15.0


async def calm() -> None:
    """Wait until whoever shares the machine leaves half a core of it, but not for ever."""
    until = time.monotonic() + CALM_S
    while time.monotonic() < until:
        before, began = idle(), time.monotonic()
        await asyncio.sleep(0.3)
        if idle() - before >= (time.monotonic() - began) / 2:
            return


def idle() -> float:
    """Seconds that the cores of this machine had nothing to do."""
    return int(Path("/proc/stat").read_text().split()[4]) / os.sysconf("SC_CLK_TCK")
