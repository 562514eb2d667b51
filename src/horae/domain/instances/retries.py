"""Retry policy: how long to wait after a failure, and when to give up. A job may override the seed's formula.

After the n-th failure the wait is 0.5 s × 2^min(n, 8) plus 100 to 800 ms of jitter, at most 300 s; the sixth failure is
final. So the waits are a little more than 1, 2, 4, 8 and 16 seconds.
"""

from datetime import timedelta
from typing import Final

import msgspec

from horae.domain.errors import Invalid

MAX_DOUBLINGS = 8
MAX_RETRY_WAIT_S: Final = 86_400
"""Seconds of each time of a retry policy, in new definitions."""
MAX_RETRY_AFTER = timedelta(hours=1)
"""The longest wait that a target can ask for."""


class RetryPolicy(msgspec.Struct, frozen=True, omit_defaults=True):
    """When to retry. Times are in seconds."""

    base: float = 0.5
    jitter_min: float = 0.1
    jitter_max: float = 0.8
    longest: float = 300.0
    max_failures: int = 6

    def __post_init__(self) -> None:
        if not (self.base > 0 and 0 <= self.jitter_min <= self.jitter_max and self.longest > 0):
            raise Invalid("a retry policy needs base and longest above zero and jitter_min not above jitter_max")
        if self.max_failures < 1:
            raise Invalid("max_failures must be 1 or more: 1 means that the first failure is final")

    def is_exhausted(self, failures: int) -> bool:
        """Whether this failure is final."""
        return failures >= self.max_failures

    def delay(self, failures: int, randomness: float, retry_after: float | None = None) -> timedelta:
        """Return the wait after failure number `failures`; at least what the target asks, up to `MAX_RETRY_AFTER`."""
        wait = self.base * 2 ** min(failures, MAX_DOUBLINGS)
        wait += self.jitter_min + randomness * (self.jitter_max - self.jitter_min)
        ours = timedelta(seconds=min(wait, self.longest))
        if retry_after is None:
            return ours
        return max(ours, min(timedelta(seconds=retry_after), MAX_RETRY_AFTER))
