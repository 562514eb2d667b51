"""Frames: the time of a rate is divided into eighths of a second, and each call of the rate leaves within one frame.

A bucket of tokens says how many calls a frame can take. It is filled at the start of each frame, up to its depth. So a
run of frames takes at most the depth plus the gain of the frames after the first. Frames can be granted in advance,
which gives a node time to prepare its calls. A call that was not made is returned to its own frame: tokens above the
depth at that time stay lost.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from math import floor
from typing import Final, NamedTuple

FRAMES_PER_S: Final = 8
FRAME_S: Final = 1 / FRAMES_PER_S
MAX_FRAMES_AHEAD: Final = 24
"""How many frames ahead a node may hold calls: three seconds, enough for a database with answers of 0.2 s."""
KEPT_FRAMES: Final = 8
"""Past frames that are remembered. Calls that were not made in an older frame are lost."""
ROUNDING_ERROR_TOKENS: Final = 1e-6
"""Tolerance for rounding errors of tokens."""


def frame_of(at: datetime) -> int:
    """Return the number of the frame that contains a time."""
    return floor(at.timestamp() * FRAMES_PER_S)


def frame_start(frame: int) -> datetime:
    """Return when a frame begins."""
    return datetime.fromtimestamp(frame / FRAMES_PER_S, UTC)


class Inflow(NamedTuple):
    """`gain`: tokens that each frame adds. `depth`: the most tokens that a bucket holds."""

    gain: float
    depth: float


class Timeline(NamedTuple):
    """The tokens at the start of a frame, and the calls granted in that frame and in later ones."""

    frame: int
    tokens: float
    granted: tuple[int, ...] = ()

    def advance(self, frame: int, inflow: Inflow) -> "Timeline":
        """Return the timeline from a later frame on. An earlier frame changes nothing: no time is counted twice."""
        passed = frame - self.frame
        if passed <= 0:
            return self
        tokens = self.tokens
        for calls in self.granted[:passed]:
            tokens = min(inflow.depth, tokens - calls + inflow.gain)
        tokens = min(inflow.depth, tokens + inflow.gain * max(0, passed - len(self.granted)))
        return Timeline(frame, tokens, self.granted[passed:])

    def room(self, ahead: int, inflow: Inflow) -> int:
        """Return how many more calls a frame can take without taking tokens from calls granted in later frames.

        1. Walk over the frames and keep the tokens of each after its granted calls.
        2. From frame `ahead` on, take the least number of tokens left: that many can be spent without a later shortage.
        3. Tokens that overflow the depth from frame `ahead` on are lost anyway, so later frames count them as
           available.
        """
        tokens, spilt, least = self.tokens, 0.0, float("inf")
        for n, calls in enumerate((*self.granted, *(0 for _ in range(ahead + 1 - len(self.granted))))):
            left = tokens - calls
            filled = left + inflow.gain
            tokens = min(inflow.depth, filled)
            if n >= ahead:
                least = min(least, left + spilt)
                spilt += filled - tokens
        return max(0, floor(least + ROUNDING_ERROR_TOKENS))

    def take_back(self, calls: Mapping[int, int]) -> "Timeline":
        """Return the timeline without calls that were not made, given by frame."""
        granted = [most - calls.get(self.frame + n, 0) for n, most in enumerate(self.granted)]
        return self._replace(granted=tuple([max(0, most) for most in granted]))

    def join(self, later: "Timeline") -> "Timeline":
        """Return this timeline up to the start of a later part, followed by that part."""
        passed = max(0, later.frame - self.frame)
        past = (*self.granted[:passed], *(0 for _ in range(passed - len(self.granted))))
        return self._replace(granted=past + later.granted)

    def grant(self, ahead: int, calls: int) -> "Timeline":
        """Return the timeline with more calls granted in the frame that is `ahead` frames away."""
        granted = [*self.granted, *(0 for _ in range(ahead + 1 - len(self.granted)))]
        granted[ahead] += calls
        return self._replace(granted=tuple(granted))
