"""A target's breaker: closed while it answers, open while it does not, and a single probe in between.

What it holds back is not sent, so it costs no attempt: an outage of a target does not empty its jobs into the
dead-letter queue. One instance that fails again and again says nothing about its target, so different ones are
counted. Times are seconds of any steady clock, chance comes in as an argument.
"""

from typing import Final
from uuid import UUID

FAILURES: Final = 5
SHORTEST: Final = 1.0
LONGEST: Final = 30.0
SPREAD: Final = 0.5


class Breaker:
    """Opens when some different instances failed in a row; each failed probe doubles the wait, up to half a minute.

    `until` is when the next probe may go, `opened_at` since when it is open; both None while it is closed.
    """

    __slots__ = ("_failed", "_probing", "_trips", "opened_at", "until")

    def __init__(self) -> None:
        self._failed: set[UUID] = set()
        self._trips = 0
        self._probing = False
        self.until: float | None = None
        self.opened_at: float | None = None

    @property
    def closed(self) -> bool:
        """Whether everything may pass."""
        return self.until is None

    def may_probe(self, now: float) -> bool:
        """Whether one call may be tried now, although it is open."""
        return self.until is not None and now >= self.until and not self._probing

    def probe(self) -> None:
        """That call is on its way."""
        self._probing = True

    def unprobe(self) -> None:
        """That call was not made after all."""
        self._probing = False

    def succeeded(self) -> None:
        """The target answered."""
        self._failed.clear()
        self._trips = 0
        self._probing = False
        self.until = self.opened_at = None

    def failed(self, instance: UUID, now: float, chance: float, *, probe: bool = False) -> bool:
        """The target did not answer an instance as it should; returns whether it has just opened.

        While it is open only its probe counts: what was sent before comes back late and says nothing new.
        """
        was_closed = self.until is None
        if was_closed:
            self._failed.add(instance)
        if len(self._failed) >= FAILURES if was_closed else probe and self._probing:
            wait = min(SHORTEST * 2**self._trips, LONGEST)
            self.until = now + wait * (1 - SPREAD * chance)
            self._trips = min(self._trips + 1, 10)
            self._probing = False
            if was_closed:
                self.opened_at = now
        return was_closed and self.until is not None
