"""A rate as the receiver's own log shows it: how many calls any window brought."""

from bisect import bisect_left
from collections.abc import Sequence

from horae.domain.limits.limits import Limit
from tests.catcher import Arrival

WAY_S = 0.05
"""Calls that left one after the other may arrive so close together, on a machine that is busy."""


def most_in(arrivals: Sequence[Arrival], seconds: float) -> int:
    """The calls of the window of that length that brought most of them."""
    times = sorted(arrival.began for arrival in arrivals)
    return max(bisect_left(times, first + seconds) - n for n, first in enumerate(times))


def most_over_rate(arrivals: Sequence[Arrival], limit: Limit) -> float:
    """By how many calls the worst window of any length went above what docs/limits.md says; not above zero: kept."""
    times = sorted(arrival.began for arrival in arrivals)
    worst = float("-inf")
    least = float("inf")  # of rate × time less the calls before, over all beginnings of a window
    for n, at in enumerate(times):
        least = min(least, n - limit.rate * at)
        worst = max(worst, n + 1 - limit.rate * at - least)
    return worst - limit.most_at_once


def rate_seen(arrivals: Sequence[Arrival], leave_out_s: float) -> float:
    """Calls a second, without the first and the last so many seconds."""
    times = sorted(arrival.began for arrival in arrivals)
    within = [at for at in times if times[0] + leave_out_s <= at <= times[-1] - leave_out_s]
    return (len(within) - 1) / (within[-1] - within[0])
