"""How long to wait after a failure, and when to give up: the seed's formula, per job overridable.

After the n-th failure: 0.5 s × 2^min(n, 8) plus 100 to 800 ms of jitter, at most 300 s; the sixth is final.
That is 1, 2, 4, 8 and 16 seconds and a little.
"""

from datetime import timedelta

import msgspec

from horae.domain.errors import Invalid

MAX_DOUBLINGS = 8
MAX_RETRY_AFTER = timedelta(hours=1)


class RetryPolicy(msgspec.Struct, frozen=True, omit_defaults=True):
    """When to try again. Times are in seconds."""

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

    def exhausted(self, failures: int) -> bool:
        """Whether this failure was the last one allowed."""
        return failures >= self.max_failures

    def delay(self, failures: int, chance: float, retry_after: float | None = None) -> timedelta:
        """How long to wait after failure number `failures`; never sooner than the target asked for."""
        wait = self.base * 2 ** min(failures, MAX_DOUBLINGS)
        wait += self.jitter_min + chance * (self.jitter_max - self.jitter_min)
        ours = timedelta(seconds=min(wait, self.longest))
        if retry_after is None:
            return ours
        return max(ours, min(timedelta(seconds=retry_after), MAX_RETRY_AFTER))
