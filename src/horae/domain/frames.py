"""The time of a rate is cut into frames of an eighth of a second; each call of the rate leaves within one frame.

A bucket of tokens says how many calls a frame can take. It is filled at the beginning of each frame and never above its
depth, so any run of frames takes at most the depth and what the frames after the first bring. Frames can be granted
ahead of their time, which gives a node time to prepare its calls. A call that was not made is taken back in the frame
it was granted in: what had no room under the depth then has none later either.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from math import floor
from typing import Final, NamedTuple

FRAMES_PER_S: Final = 8
FRAME_S: Final = 1 / FRAMES_PER_S
MAX_FRAMES_AHEAD: Final = 24
"""How far ahead a node may hold calls: three seconds, for a database whose every answer takes a fifth of one."""
KEPT_FRAMES: Final = 8
"""Frames that are over and still remembered: calls that were not made in an earlier one are lost."""
ROUNDING: Final = 1e-6


def frame_of(at: datetime) -> int:
    """The number of the frame that a time lies in."""
    return floor(at.timestamp() * FRAMES_PER_S)


def frame_start(frame: int) -> datetime:
    """When a frame begins."""
    return datetime.fromtimestamp(frame / FRAMES_PER_S, UTC)


class Inflow(NamedTuple):
    """What a frame adds to the tokens of a rate, and how many tokens there can be."""

    gain: float
    depth: float


class Timeline(NamedTuple):
    """The tokens at the beginning of a frame, and the calls granted in that frame and in those after it."""

    frame: int
    tokens: float
    granted: tuple[int, ...] = ()

    def advance(self, frame: int, inflow: Inflow) -> "Timeline":
        """The same timeline from a later frame on. An earlier one changes nothing: no time is counted twice."""
        passed = frame - self.frame
        if passed <= 0:
            return self
        tokens = self.tokens
        for calls in self.granted[:passed]:
            tokens = min(inflow.depth, tokens - calls + inflow.gain)
        tokens = min(inflow.depth, tokens + inflow.gain * max(0, passed - len(self.granted)))
        return Timeline(frame, tokens, self.granted[passed:])

    def room(self, ahead: int, inflow: Inflow) -> int:
        """How many more calls the frame that is so many ahead can take, with those granted after it left to them."""
        tokens, spilt, least = self.tokens, 0.0, float("inf")
        for n, calls in enumerate((*self.granted, *(0 for _ in range(ahead + 1 - len(self.granted))))):
            left = tokens - calls
            filled = left + inflow.gain
            tokens = min(inflow.depth, filled)
            if n >= ahead:
                least = min(least, left + spilt)
                spilt += filled - tokens
        return max(0, floor(least + ROUNDING))

    def take_back(self, calls: Mapping[int, int]) -> "Timeline":
        """Calls by frame that were not made or will not be: as if they had never been granted."""
        granted = [most - calls.get(self.frame + n, 0) for n, most in enumerate(self.granted)]
        return self._replace(granted=tuple([max(0, most) for most in granted]))

    def joined(self, later: "Timeline") -> "Timeline":
        """This timeline up to a later part of it, and that part."""
        passed = max(0, later.frame - self.frame)
        past = (*self.granted[:passed], *(0 for _ in range(passed - len(self.granted))))
        return self._replace(granted=past + later.granted)

    def grant(self, ahead: int, calls: int) -> "Timeline":
        """So many calls more in the frame that is so many ahead."""
        granted = [*self.granted, *(0 for _ in range(ahead + 1 - len(self.granted)))]
        granted[ahead] += calls
        return self._replace(granted=tuple(granted))
