"""The signals that end a process, and those of a terminal that closes."""

import asyncio
import signal
from typing import Final

ENDS: Final = (signal.SIGTERM, signal.SIGINT)


def stop_signal() -> asyncio.Event:
    """An event that SIGTERM and SIGINT set, and SIGHUP, too, unless it is ignored (`nohup`)."""
    stopping = asyncio.Event()
    for name in ENDS if ignores_hangups() else (*ENDS, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(name, stopping.set)
    return stopping


def ignores_hangups() -> bool:
    """Whether this process is meant to outlive its terminal."""
    return signal.getsignal(signal.SIGHUP) == signal.SIG_IGN


def ignore_hangups() -> None:
    """Ignore further SIGHUPs during the shutdown.

    The kernel and the shell may both send one when a terminal closes, and the second must not interrupt the shutdown.
    """
    if not ignores_hangups():
        asyncio.get_running_loop().remove_signal_handler(signal.SIGHUP)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
