"""The steps of a way back. Each can be taken twice, and needs nothing but its own values."""

import shutil
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from horae.boot.drills.processes import ProcessRef, postmaster, tree

SERVER_STOP_S: Final = 30.0
SCRATCH_PREFIX: Final = "horae-drill-"
"""Only folders whose name begins so are removed."""
POLL_S: Final = 0.1


class ContinueProcess(msgspec.Struct, frozen=True, tag=True):
    """Continue a process that was stopped by a signal, and its children. One that ended meanwhile is left alone."""

    process: ProcessRef

    def take(self) -> str:
        """Returns how many were continued."""
        if not self.process.runs:
            return f"process {self.process.pid} has ended"
        done = sum(one.signal(signal.SIGCONT) for one in reversed(tree(self.process)))
        return f"process {self.process.pid} continued, {done} with its children"


class EndProcess(msgspec.Struct, frozen=True, tag=True):
    """End a program that the drill has started."""

    process: ProcessRef

    def take(self) -> str:
        """Returns whether it still ran."""
        ended = self.process.signal(signal.SIGKILL)
        return f"process {self.process.pid} {'was ended' if ended else 'has ended'}"


class DropScratchServer(msgspec.Struct, frozen=True, tag=True):
    """Stop the PostgreSQL of a scratch folder, and remove the folder."""

    folder: str

    def take(self) -> str:
        """Returns what it did."""
        folder = Path(self.folder)
        if not folder.name.startswith(SCRATCH_PREFIX):
            raise ValueError(f"{folder} is not a folder of a drill")
        if (server := postmaster(folder / "data")) is not None:
            server.signal(signal.SIGINT)
            deadline = time.monotonic() + SERVER_STOP_S
            while server.runs and time.monotonic() < deadline:
                time.sleep(POLL_S)
            server.signal(signal.SIGKILL)
        with suppress(FileNotFoundError):
            shutil.rmtree(folder)
        return f"{folder} removed" if not folder.exists() else f"{folder} could not be removed"


WayBack = ContinueProcess | EndProcess | DropScratchServer
