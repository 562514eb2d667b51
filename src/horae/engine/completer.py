"""Collects what came back and settles it in batches."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from horae.runtime.batcher import Batcher
from horae.runtime.pace import Pace
from horae.runtime.telemetry import log
from horae.store.settle import Result, Settler
from horae.store.tx import CUT, GONE, TRY_AGAIN

CROWDED: Final = 4000
PAUSE: Final = 0.5
WORTH: Final = timedelta(seconds=30)
"""How long after its deadline a result is still worth writing: by then the rescuer has made it due again."""


class Completer:
    """Results go in. What could not be written is tried again until the rescuer has taken over."""

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
        try:
            await self.settler.settle(batch)
        except (*GONE, *TRY_AGAIN, *CUT) as error:
            log.warning("settle.postponed", count=len(batch), reason=str(error) or type(error).__name__)
            await asyncio.sleep(PAUSE)
            now = self.settler.cell.clock.now()
            self._batches.extend(one for one in batch if one.ran.deadline is None or one.ran.deadline + WORTH > now)
