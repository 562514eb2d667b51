"""Decides when to retry a request, without I/O; the client does the waiting."""

from dataclasses import dataclass
from typing import Any

from horae_client import errors
from horae_client.wire import Request

TAKEN_BACK = (errors.Limited, errors.Unavailable, errors.Contended)
"""Refusals after which nothing was changed, so a retry is always safe."""
UNKNOWN = (errors.Unreachable, errors.ServerFault, errors.Unreadable)
"""The request may have taken effect: only requests that are safe to repeat are retried."""


@dataclass(frozen=True)
class Retries:
    """How often to retry, and how long to wait: doubling, with jitter, and never less than `Retry-After`.

    >>> from horae_client.retries import Retries
    >>> Retries(tries=3, base=0.5).pause(2, 0.5, None)
    0.75
    """

    tries: int = 6
    base: float = 0.25
    longest: float = 20.0
    patience: float = 60.0

    def pause(self, tried: int, chance: float, retry_after: float | None) -> float:
        """Seconds to wait after `tried` tries. `chance` in [0, 1) is the jitter that keeps clients apart."""
        grown = min(self.longest, self.base * float(2 ** (tried - 1)))
        return max(grown * (0.5 + chance / 2), retry_after or 0.0)


def wait(
    retries: Retries, request: Request[Any], error: Exception, tried: int, spent: float, chance: float
) -> float | None:
    """Seconds to wait before the request is sent again; None if it must not be retried."""
    if not (isinstance(error, TAKEN_BACK) or (request.again and isinstance(error, UNKNOWN))):
        return None
    if isinstance(error, errors.DispatcherDown | errors.RetryLimited) and error.retry_after is None:
        return None
    pause = retries.pause(tried, chance, getattr(error, "retry_after", None))
    return None if tried >= retries.tries or spent + pause > retries.patience else pause
