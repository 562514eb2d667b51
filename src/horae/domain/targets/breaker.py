"""The circuit breaker of a target: closed while the target answers, open while it does not, with single probes between.

A call that the breaker holds back is not sent and costs no attempt, so an outage of a target does not fill the
dead-letter queue. It counts failures of different instances: one instance that fails again and again says nothing about
its target. Times are seconds of a monotonic clock; randomness is an argument.
"""

from typing import Final
from uuid import UUID

FAILURES: Final = 5
"""Different instances that must fail in a row before the breaker opens."""
FIRST_PROBE_WAIT_S: Final = 1.0
MAX_PROBE_WAIT_S: Final = 30.0
RANDOM_WAIT_SHARE: Final = 0.5
"""The part of a wait that is random."""


class Breaker:
    """Opens after `FAILURES` different instances failed in a row.

    Each failed probe doubles the wait, up to `MAX_PROBE_WAIT_S`.
    `until` is when the next probe may be sent, `opened_at` when it opened; both are None while it is closed.
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
        """Whether all calls may pass."""
        return self.until is None

    def may_probe(self, now: float) -> bool:
        """Whether the breaker is open and one probe may be sent now."""
        return self.until is not None and now >= self.until and not self._probing

    def probe(self) -> None:
        """Note that the probe is being sent."""
        self._probing = True

    def cancel_probe(self) -> None:
        """Note that the probe was not sent after all."""
        self._probing = False

    def record_success(self) -> None:
        """Close the breaker: the target answered."""
        self._failed.clear()
        self._trips = 0
        self._probing = False
        self.until = self.opened_at = None

    def record_failure(self, instance: UUID, now: float, randomness: float, *, probe: bool = False) -> bool:
        """Count a failed call of an instance; returns whether the breaker has just opened.

        While it is open only the probe counts: late answers to earlier calls bring no news.
        """
        was_closed = self.until is None
        if was_closed:
            self._failed.add(instance)
        if len(self._failed) >= FAILURES if was_closed else probe and self._probing:
            wait = min(FIRST_PROBE_WAIT_S * 2**self._trips, MAX_PROBE_WAIT_S)
            self.until = now + wait * (1 - RANDOM_WAIT_SHARE * randomness)
            self._trips = min(self._trips + 1, 10)
            self._probing = False
            if was_closed:
                self.opened_at = now
        return was_closed and self.until is not None
