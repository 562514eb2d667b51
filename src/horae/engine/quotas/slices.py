"""A node's slice of one shared limit: what it may use now, from memory, until it asks for more or gives back."""

import math
from typing import Final

from horae.domain.limits import SLICE, Ask, Grant, Limit

ROUND: Final = 0.1
"""Seconds between two rounds while something is wanted; more where many share, so that the row keeps up."""
PER_HOLDER: Final = 0.01
LINGER: Final = 1.0
"""Seconds that a wish counts after it was refused, and that a slice nobody touches is kept."""
TOKENS_LAST: Final = 1.0
"""Seconds that tokens may be used after they were granted."""

MANY: Final = 1 << 30


class Slice:
    """Counts in memory. Ticks are passed in; `life` is how long its permits count without a renewal.

    `planned_at` is the tick at which its keeper will look whether a round is worth it.
    """

    def __init__(self, limit: Limit, life: float) -> None:
        self.limit = limit
        self.planned_at: float | None = None
        self._life = life
        self._tokens = 0.0
        self._held = self._share = self._in_use = 0
        self._refused = self._used = self._waiting = 0
        self._valid_until = self._tokens_until = 0.0
        self._asked_at = self._granted_at = self._refused_at = self._touched_at = -LINGER
        self._pace = ROUND
        self._owing = False

    def take(self, tick: float) -> bool:
        """Use a token and a permit, as far as the limit knows them; False when either is missing."""
        self._touched_at = tick
        if self._has_token(tick) and self._has_permit(tick):
            self._tokens -= self.limit.rate is not None
            self._in_use += self.limit.concurrency is not None
            self._used += 1
            return True
        self._refused += 1
        self._refused_at = tick
        return False

    def give(self, tick: float) -> None:
        """A call has ended. When others wait and this node had its slice of time, its permit goes back too."""
        self._in_use = max(0, self._in_use - 1)
        self._touched_at = tick
        self._come_down(tick)

    def undo(self, tick: float) -> None:
        """What was taken did not go after all: its token counts again."""
        self._tokens += self.limit.rate is not None
        self._used = max(0, self._used - 1)
        self.give(tick)

    def room(self, tick: float) -> int:
        """How many could go now."""
        tokens = int(self._tokens) if tick < self._tokens_until else 0
        permits = self._held - self._in_use if tick < self._valid_until else 0
        limit = self.limit
        return min(MANY if limit.rate is None else tokens, MANY if limit.concurrency is None else max(0, permits))

    def wait(self, many: int, tick: float) -> None:
        """So many still wait, although they do not ask one by one."""
        self._refused = max(self._refused, many)
        self._refused_at = self._touched_at = tick

    def due_at(self, tick: float) -> float | None:
        """From when on a round is worth it, as things stand; None where nothing is in it and nothing wanted."""
        if self._refused or self._owing or (self._waiting and tick - self._refused_at < LINGER):
            return self._asked_at + self._pace
        return None if self.empty else self._asked_at + SLICE

    @property
    def empty(self) -> bool:
        """Nothing in it, nothing wanted: it may be forgotten."""
        return not (self._in_use or self._held or self._tokens or self._refused or self._used or self._waiting)

    def retire(self) -> None:
        """Nobody takes from it any more: all that is not in use goes back with the next round."""
        self._touched_at = self._refused_at = self._asked_at = -math.inf
        self._refused = self._waiting = 0
        self._owing = True

    def ask(self, tick: float) -> Ask:
        """What to ask for. What is offered back is not used any more, whatever comes of the round."""
        idle = tick - self._touched_at > LINGER
        if self._refused or tick - self._refused_at >= LINGER:
            self._waiting = self._refused
        if idle:
            self._held = self._in_use
        self._come_down(tick)
        need = 0.0 if self.limit.rate is None else float(self._used + self._waiting)
        back = self._tokens if idle or tick >= self._tokens_until else max(0.0, self._tokens - max(need, 1.0))
        self._tokens -= back
        wanted = min(self._in_use + self._waiting, self.limit.concurrency or 0)
        self._asked_at, self._refused, self._used, self._owing = tick, 0, 0, False
        return Ask(max(0.0, min(need, self.limit.depth) - self._tokens), back, self._held, max(wanted, self._in_use))

    def granted(self, asked: Ask, grant: Grant, sent: float, now: float) -> bool:
        """Take what a round brought, which counts from when it was sent; returns whether there is something new."""
        more = grant.held - asked.keep
        if more > 0:
            self._granted_at = now
        self._held += more
        self._share = grant.share
        self._tokens += grant.tokens
        self._valid_until, self._tokens_until = sent + self._life, sent + TOKENS_LAST
        self._pace = max(ROUND, PER_HOLDER * grant.holders)
        return more > 0 or grant.tokens > 0

    def _come_down(self, tick: float) -> None:
        if self._held > self._share and tick - self._granted_at >= SLICE:
            self._owing = self._owing or self._held > max(self._in_use, self._share)
            self._held = max(self._in_use, self._share)

    def _has_token(self, tick: float) -> bool:
        return self.limit.rate is None or (self._tokens >= 1 and tick < self._tokens_until)

    def _has_permit(self, tick: float) -> bool:
        return self.limit.concurrency is None or (self._in_use < self._held and tick < self._valid_until)
