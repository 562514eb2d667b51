"""Duties that run when there is a reason, and after a safety period without one."""

from collections.abc import Callable

from horae.runtime.clock import boottime
from horae.runtime.loop import Duty


class PromptedDuty:
    """A duty that may be asked at every turn of its loop, and does nothing as long as nothing prompts it.

    A prompt is a hint: it may be late or lost, so the duty also runs `safety_s` seconds after its last round. A round
    that fails, or that did something, is followed by another.
    """

    def __init__(self, duty: Duty, safety_s: float, now: Callable[[], float] = boottime) -> None:
        self.duty = duty
        self.safety_s = safety_s
        self._now = now
        self._prompted = True
        self._ran_at = now()

    def prompt(self) -> None:
        """There may be something to do."""
        self._prompted = True

    async def once(self) -> int:
        """Run the duty if it was prompted or its time has come; returns how much it did."""
        if not self._prompted and self._now() - self._ran_at < self.safety_s:
            return 0
        self._prompted = False  # before the round, so a prompt during it is kept
        try:
            done = await self.duty.once()
        except BaseException:
            self._prompted = True
            raise
        self._ran_at = self._now()
        if done:
            self._prompted = True
        return done
