"""Duties that run when they are prompted, and once in a safety period without a prompt."""

from collections.abc import Callable

from horae.runtime.clock import boottime
from horae.runtime.loop import Duty


class PromptedDuty:
    """Wraps a duty: a round without a prompt does nothing.

    A prompt is a hint: it may be late or lost. So the duty also runs `safety_s` seconds after its last round. A round
    that fails, or that did something, counts as a prompt for the next one.
    """

    def __init__(self, duty: Duty, safety_s: float, now: Callable[[], float] = boottime) -> None:
        self.duty = duty
        self.safety_s = safety_s
        self._now = now
        self._prompted = True
        self._ran_at = now()

    def prompt(self) -> None:
        """Let the next round run: there may be work."""
        self._prompted = True

    async def once(self) -> int:
        """Run the duty if it was prompted or the safety period is over; returns how much it did."""
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
