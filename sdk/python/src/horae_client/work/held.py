"""The attempts that a worker holds, and the heartbeats that keep them."""

import asyncio
import logging
import time
from datetime import datetime
from typing import Any, Final

from horae_client.asked import workers as asked
from horae_client.client import AsyncClient
from horae_client.models import Work
from horae_client.work.context import Context

log = logging.getLogger("horae_client.worker")
MOST: Final = 1000
LOOK: Final = 0.25
PROGRESS_INTERVAL_S: Final = 1.0
"""Seconds between two heartbeats of an attempt that only report its progress."""
PATIENCE: Final = 10.0


class Held:
    """One attempt: when its next heartbeat is due, and until when it belongs to this worker."""

    __slots__ = ("beat_at", "beating", "ctx", "ends_at", "lost", "progress_at", "task", "work")

    def __init__(self, work: Work, ctx: Context, at: float, left: float) -> None:
        self.work = work
        self.ctx = ctx
        self.task: asyncio.Task[None] | None = None
        self.lost = self.beating = False
        self.beat_at, self.ends_at = at + left / 3, at + left
        self.progress_at = 0.0

    def is_due(self, now: float) -> bool:
        """Whether a heartbeat should be sent now: its time has come, or there is a progress to report."""
        if self.beating or self.lost:
            return False
        return self.beat_at <= now or (self.ctx.has_progress and self.progress_at <= now)

    def until(self, at: float, left: float) -> None:
        """Extend the claim: `left` seconds from `at`; the next heartbeat is due after a third of that."""
        self.beat_at, self.ends_at = at + left / 3, at + left

    def lose(self) -> None:
        """Stop the handler: the attempt belongs to another worker, or is cancelled."""
        self.lost = True
        self.ctx.lose()
        if self.task is not None:
            self.task.cancel()


def seconds_left(deadline: datetime, now: datetime | None) -> float:
    """How long a claim lasts, by the server's clock."""
    return 30.0 if now is None else max(0.0, (deadline - now).total_seconds())


def _item(one: Held) -> dict[str, Any]:
    """The heartbeat of an attempt, with its progress if it has a new one."""
    item: dict[str, Any] = {
        "instance_id": one.work.instance_id,
        "attempt": one.work.attempt,
        "token": one.work.token,
    }
    if (said := one.ctx.take_progress()) is not None:
        item["progress"] = said
        one.progress_at = time.monotonic() + PROGRESS_INTERVAL_S
    return item


class HeldAttempts:
    """All attempts that this worker holds, by token. Tokens are unique."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client
        self.held: dict[str, Held] = {}
        self._beats: set[asyncio.Task[None]] = set()

    def take(self, one: Held) -> None:
        """Start keeping an attempt."""
        self.held[one.work.token] = one

    def let_go(self, one: Held) -> None:
        """Stop keeping an attempt that was reported or lost."""
        self.held.pop(one.work.token, None)

    async def beat(self) -> None:
        """Send heartbeats until cancelled, for attempts that need one.

        1. Every `LOOK` seconds, give up attempts whose deadline has passed, before another worker can get them.
        2. Send heartbeats in the background for all attempts that are due. This loop does not wait for the answers, so
           a missing answer cannot delay step 1.
        """
        try:
            while True:
                await asyncio.sleep(LOOK)
                self._give_up_overdue()
                now = time.monotonic()
                due = [one for one in self.held.values() if one.is_due(now)]
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
        items = [_item(one) for one in due]
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
                elif answer.deadline is not None:  # counted from the request: the age of the answer is unknown
                    one.until(asked_at, seconds_left(answer.deadline, heard.now))
        except Exception as error:
            log.warning("a heartbeat was not heard: %s", error or type(error).__name__)
        finally:
            for one in due:
                one.beating = False
