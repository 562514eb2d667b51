"""Collects the results of calls and settles them in batches."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Final

from horae.repositories.settle import AttemptOutcome, Settler
from horae.runtime.batch import halve
from horae.runtime.batcher import Batcher
from horae.runtime.clock import boottime
from horae.runtime.pace import BatchPace
from horae.runtime.telemetry import log
from horae.store.tx import CUT, GONE, LOCKED, NO_ROOM, TRY_AGAIN

MAX_UNWRITTEN_RESULTS: Final = 4000
"""Unwritten results from which on no more calls are sent."""
WRITE_RETRY_PAUSE_S: Final = 0.5
"""Seconds before results that could not be written are tried again."""
RESULT_TRIED_AFTER_DEADLINE: Final = timedelta(seconds=30)
"""How long after its deadline a result is still tried: by then the rescuer has made its instance due again."""


NOT_NOW: tuple[type[Exception], ...] = (*GONE, *TRY_AGAIN, *CUT, *LOCKED, *NO_ROOM)
"""Errors that are not caused by a row of the batch."""


def result_pace(now: Callable[[], float] = boottime) -> BatchPace:
    """How often results are written: nobody waits for them as a call waits for its fire."""
    return BatchPace(quiet_s=0.055, batches_per_row=0.012, busy_s=0.025, now=now)


class Completer:
    """Writes results, and tries again until the rescuer has taken over. `batches` counts the batches that it began.

    The calls have been sent already: if a result is lost, its call is sent a second time.
    """

    def __init__(self, settler: Settler, pace: BatchPace) -> None:
        self.settler = settler
        self.batches = 0
        self._failing = False
        self._batches = Batcher("settle", self._settle, pace)
        self.add = self._batches.add
        self.drain = self._batches.drain

    @property
    def unwritten(self) -> int:
        """How many results are not written, also those of batches that are being written or tried again."""
        return self._batches.unfinished

    @property
    def is_full(self) -> bool:
        """Whether so many results are unwritten that no more calls should be sent."""
        return len(self._batches) > MAX_UNWRITTEN_RESULTS

    async def _settle(self, batch: Sequence[AttemptOutcome]) -> None:
        self.batches += 1
        left: list[AttemptOutcome] = []

        async def settle(part: Sequence[AttemptOutcome]) -> list[AttemptOutcome]:
            try:
                await self.settler.settle(part)
            except NOT_NOW as error:
                if not self._failing and not self.settler.cell.reach.is_down:  # once, not for each try
                    log.warning("settle.postponed", count=len(part), reason=str(error) or type(error).__name__)
                left.extend(part)
            return []

        done = await halve(batch, settle, (Exception,))
        for result, reason in done.refused:
            log.error("settle.failed", **result.ran.ids(), reason=reason)
            left.append(result)
        self._failing = bool(left)
        if left:
            await asyncio.sleep(WRITE_RETRY_PAUSE_S)
            now = self.settler.cell.clock.now()
            self._batches.extend(
                one for one in left if one.ran.deadline is None or one.ran.deadline + RESULT_TRIED_AFTER_DEADLINE > now
            )
