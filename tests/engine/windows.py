"""A rate in the moments its calls leave, which is what docs/limits.md promises: how many any window of time had.

A receiver's log cannot judge it: where others use the machine, calls that left one after the other arrive together.
"""

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from horae.delivery.client import Client, Done
from horae.delivery.http import HttpRequest
from horae.domain.limits.limits import Limit
from horae.store.store import Store
from tests.egress import ANYWHERE


class Departure(NamedTuple):
    """A call that left: when by the loop, to which path, and how far the clocks of its cells were ahead of the loop."""

    at: float
    path: str
    shifts: tuple[float, ...]


class WatchedClient(Client):
    """Writes each call down in the moment it leaves, in a list that several nodes may share."""

    def __init__(self, store: Store, departures: list[Departure]) -> None:
        super().__init__(ANYWHERE)
        self._clocks = [cell.clock for cell in store.cells]
        self._departures = departures

    def send(self, request: HttpRequest, done: Done) -> None:
        at = self._loop.time()
        path = request.data.split(b" ", 2)[1].decode()
        self._departures.append(Departure(at, path, tuple(clock.seconds() - at for clock in self._clocks)))
        super().send(request, done)


def most_in(departures: Sequence[Departure], seconds: float) -> int:
    """The calls of the window of that length that had most of them."""
    times = sorted(departure.at for departure in departures)
    return max(bisect_left(times, first + seconds) - n for n, first in enumerate(times))


def above_rate(departures: Sequence[Departure], limit: Limit) -> float:
    """By how many calls the worst window of any length went above what docs/limits.md says; not above zero: kept."""
    times = sorted(departure.at for departure in departures)
    worst = float("-inf")
    least = float("inf")  # of rate × time less the calls before, over all beginnings of a window
    for n, at in enumerate(times):
        least = min(least, n - limit.rate * at)
        worst = max(worst, n + 1 - limit.rate * at - least)
    return worst - limit.most_at_once - allowed(departures, limit.rate)


def allowed(departures: Sequence[Departure], rate: float) -> float:
    """The calls that docs/limits.md allows for differences between the nodes' readings of a cell's clock.

    And one that had its place and was not yet written down when the machine was taken from us.
    """
    readings = zip(*(departure.shifts for departure in departures), strict=True)
    return 1 + rate * max(max(shifts) - min(shifts) for shifts in readings)


def rate_seen(departures: Sequence[Departure], leave_out_s: float) -> float:
    """Calls a second, without the first and the last so many seconds."""
    times = sorted(departure.at for departure in departures)
    within = [at for at in times if times[0] + leave_out_s <= at <= times[-1] - leave_out_s]
    return (len(within) - 1) / (within[-1] - within[0])
