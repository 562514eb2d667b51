"""The attempts in our hands, and the heartbeats that keep them there."""

import asyncio
import logging
import time
from datetime import datetime
from typing import Final

from horae_client.asked import workers as asked
from horae_client.client import AsyncClient
from horae_client.models import Work
from horae_client.work.context import Context

log = logging.getLogger("horae_client.worker")
MOST: Final = 1000
LOOK: Final = 0.25
PATIENCE: Final = 10.0


class Held:
    """One attempt: when to beat for it, and until when it is ours."""

    __slots__ = ("beat_at", "beating", "ctx", "ends_at", "lost", "task", "work")

    def __init__(self, work: Work, ctx: Context, at: float, left: float) -> None:
        self.work = work
        self.ctx = ctx
        self.task: asyncio.Task[None] | None = None
        self.lost = self.beating = False
        self.beat_at, self.ends_at = at + left / 3, at + left

    def until(self, at: float, left: float) -> None:
        """Ours for so many seconds from then on; beat after a third of that."""
        self.beat_at, self.ends_at = at + left / 3, at + left

    def lose(self) -> None:
        """Stop: someone else has it, or nobody is to have it."""
        self.lost = True
        self.ctx.lose()
        if self.task is not None:
            self.task.cancel()


def seconds_left(deadline: datetime, now: datetime | None) -> float:
    """How long something is ours: as long as the server says, by its own clock."""
    return 30.0 if now is None else max(0.0, (deadline - now).total_seconds())


class Hands:
    """Everything we hold, by its token: no two attempts have the same."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client
        self.held: dict[str, Held] = {}
        self._beats: set[asyncio.Task[None]] = set()

    def take(self, one: Held) -> None:
        """From now on we answer for it."""
        self.held[one.work.token] = one

    def let_go(self, one: Held) -> None:
        """It was reported, or is lost."""
        self.held.pop(one.work.token, None)

    async def beat(self) -> None:
        """For ever: beat for what needs it. What could not be kept is given up before another may have it.

        Nobody waits for an answer here: one that does not come must not hide the deadline of anything.
        """
        try:
            while True:
                await asyncio.sleep(LOOK)
                self._give_up_overdue()
                now = time.monotonic()
                due = [one for one in self.held.values() if one.beat_at <= now and not one.beating and not one.lost]
                for start in range(0, len(due), MOST):
                    beat = asyncio.create_task(self._beat_for(due[start : start + MOST]))
                    self._beats.add(beat)
                    beat.add_done_callback(self._beats.discard)
        finally:
            for beat in self._beats:
                beat.cancel()

    def _give_up_overdue(self) -> None:
        now = time.monotonic()
        for one in list(self.held.values()):
            if one.ends_at <= now and not one.lost:
                log.warning("%s could not be kept: nothing was heard until its deadline", one.work.instance_id)
                one.lose()

    async def _beat_for(self, due: list[Held]) -> None:
        items = [
            {"instance_id": one.work.instance_id, "attempt": one.work.attempt, "token": one.work.token} for one in due
        ]
        for one in due:
            one.beating = True
        asked_at = time.monotonic()
        left = max(LOOK, min(one.ends_at for one in due) - asked_at)
        try:
            async with asyncio.timeout(left):
                heard = await self._client.once(asked.heartbeat(items), PATIENCE)
            for one, answer in zip(due, heard.items, strict=True):
                if not answer.yours:
                    one.lose()
                elif answer.deadline is not None:  # counted from the question: how old the answer is nobody knows
                    one.until(asked_at, seconds_left(answer.deadline, heard.now))
        except Exception as error:
            log.warning("a heartbeat was not heard: %s", error or type(error).__name__)
        finally:
            for one in due:
                one.beating = False
