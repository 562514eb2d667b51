"""Collects what came back and settles it in batches."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from horae.runtime.batch import halve
from horae.runtime.batcher import Batcher
from horae.runtime.pace import Pace
from horae.runtime.telemetry import log
from horae.store.settle import Result, Settler
from horae.store.tx import CUT, GONE, LOCKED, NO_ROOM, TRY_AGAIN

CROWDED: Final = 4000
PAUSE: Final = 0.5
WORTH: Final = timedelta(seconds=30)
"""How long after its deadline a result is still worth writing: by then the rescuer has made it due again."""


NOT_NOW: tuple[type[Exception], ...] = (*GONE, *TRY_AGAIN, *CUT, *LOCKED, *NO_ROOM)
"""Says nothing about the rows of a batch."""


class Completer:
    """Results go in. What could not be written is tried again until the rescuer has taken over.

    The calls have been made: a result that is lost is a call that is made again.
    """

    def __init__(self, settler: Settler, pace: Pace) -> None:
        self.settler = settler
        self._batches = Batcher("settle", self._settle, pace)
        self.add = self._batches.add
        self.drained = self._batches.drained

    @property
    def crowded(self) -> bool:
        """Whether so much is waiting to be written that no more calls should be made."""
        return len(self._batches) > CROWDED

    async def _settle(self, batch: Sequence[Result]) -> None:
        left: list[Result] = []

        async def settle(part: Sequence[Result]) -> list[Result]:
            try:
                await self.settler.settle(part)
            except NOT_NOW as error:
                log.warning("settle.postponed", count=len(part), reason=str(error) or type(error).__name__)
                left.extend(part)
            return []

        done = await halve(batch, settle, (Exception,))
        for result, reason in done.refused:
            log.error("settle.failed", instance=str(result.ran.id), reason=reason)
            left.append(result)
        if left:
            await asyncio.sleep(PAUSE)
            now = self.settler.cell.clock.now()
            self._batches.extend(one for one in left if one.ran.deadline is None or one.ran.deadline + WORTH > now)
