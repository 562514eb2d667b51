"""The drill's side of its guardian."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import msgspec

from horae.boot.drills.guardian import GuardianOrder, GuardianReply
from horae.boot.drills.way_back import WayBack
from horae.domain.errors import Unavailable

START_TIMEOUT_S: Final = 30.0
WAY_BACK_TIMEOUT_S: Final = 120.0


class GuardianLink:
    """Sends orders to the guardian, and hears its replies."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._result: GuardianReply | None = None

    @property
    def pid(self) -> int:
        """The pid of the guardian."""
        return self._process.pid

    async def note(self, step: WayBack) -> None:
        """Give it a step of the way back. Nothing may be broken before this returns."""
        reply = await self._order(GuardianOrder(step), START_TIMEOUT_S)
        if reply.why:  # its time limit has passed
            self._result = reply
            raise Unavailable(f"the guardian has taken the way back: {reply.why}")

    async def take_way_back(self) -> GuardianReply:
        """Let it take the way back, unless it has done so; returns what was done."""
        if self._result is None:
            self._result = await self._order(GuardianOrder(), WAY_BACK_TIMEOUT_S)
            await self._process.wait()
        return self._result

    async def _order(self, order: GuardianOrder, seconds: float) -> GuardianReply:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(msgspec.json.encode(order) + b"\n")
            await self._process.stdin.drain()
        except ConnectionError:
            pass  # it has ended by itself: its last line says why
        try:
            line = await asyncio.wait_for(self._process.stdout.readline(), seconds)
        except TimeoutError as error:
            raise Unavailable(f"the guardian (pid {self.pid}) does not answer") from error
        if not line:
            raise Unavailable(f"the guardian (pid {self.pid}) is gone: nothing more is broken")
        return msgspec.json.decode(line, type=GuardianReply)


@asynccontextmanager
async def guarded(limit_s: float, log: Path) -> AsyncIterator[GuardianLink]:
    """A guardian for the block. Whatever happens in it, the way back was taken when it ends."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "horae.boot.drills.guardian", f"{limit_s:g}", str(log)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,  # a signal to the drill's group does not reach it
    )
    link = GuardianLink(process)
    try:
        yield link
    finally:
        await link.take_way_back()
