"""A node's slice of one shared limit: what it may use now, from memory, until it asks for more or gives back."""

import math
from typing import Final

from horae.domain.frames import FRAME_S, FRAMES_PER_S, MAX_FRAMES_AHEAD
from horae.domain.limits import NEAR_FRAMES, SLICE, Ask, Grant, Limit

ROUND: Final = 0.1
"""Seconds between two rounds while something is wanted; more where many share, so that the row keeps up."""
PER_HOLDER: Final = 0.01
LINGER: Final = 1.0
"""Seconds that a wish counts after it was refused, and that a slice nobody touches is kept."""
FIRST_LEAD_S: Final = 0.05
MAX_LEAD_S: Final = 1.0
LEAD_DECAY: Final = 0.95
NEED_DECAY: Final = 0.9
"""What is left of the most calls in a frame, from one round to the next."""
SPARE_FRAMES: Final = 3

MANY: Final = 1 << 30


class Slice:
    """Counts in memory. Ticks are passed in; `life` is how long its permits count without a renewal.

    A rate's calls come by the frame, of a clock that is ahead of ticks by `shift_s`. A call is admitted when a frame
    that it can reach has a place for it, and takes that place when it leaves: `pending` calls are admitted and have not
    left. How long a call needs from the one to the other is measured: `lead_s`.

    `planned_at` is the tick at which its keeper will look whether a round is worth it.
    """

    def __init__(self, limit: Limit, life: float, shift_s: float) -> None:
        self.limit = limit
        self.shift_s = shift_s
        self.planned_at: float | None = None
        self.lead_s = FIRST_LEAD_S
        self.pending = 0
        self._next_limit, self._limit_since = limit, -math.inf
        self._life = life
        self._calls: dict[int, int] = {}
        self._frame = self._made = 0
        self._most_made = 0.0
        self._held = self._share = self._in_use = 0
        self._refused = self._waiting = 0
        self._valid_until = 0.0
        self._asked_at = self._granted_at = self._refused_at = self._touched_at = -LINGER
        self._pace = ROUND
        self._round_s = 0.0
        self._holders = 1
        self._owing = False

    def heed(self, limit: Limit, tick: float) -> None:
        """Someone names a limit for this key: the least of those named in the last second or two counts."""
        if tick - self._limit_since >= LINGER:
            self.limit, self._next_limit, self._limit_since = self._next_limit.least(limit), limit, tick
        if limit is not self.limit and limit != self.limit:
            self.limit = self.limit.least(limit)
            self._next_limit = self._next_limit.least(limit)

    def take(self, tick: float, *, rated: bool) -> bool:
        """Admit a call, as far as the limit knows it; False when a place in a frame or a permit is missing."""
        self._touched_at = tick
        if (not rated or self.pending < self._places(tick)) and self._has_permit(tick):
            self.pending += rated
            self._in_use += 1
            return True
        self._refused += 1
        self._refused_at = tick
        return False

    def has_place(self, tick: float) -> bool:
        """Whether an admitted call may leave now: whether the present frame has a place for it."""
        return self._calls.get(self._frame_at(tick), 0) > 0 or self.limit.rate is None

    def leave(self, tick: float) -> bool:
        """Let an admitted call leave in the place that the present frame has for it; False where it has none."""
        frame = int((tick + self.shift_s) * FRAMES_PER_S)
        places = self._calls.get(frame, 0)
        if places:
            self._calls[frame] = places - 1
        elif self.limit.rate is not None:
            return False
        self.pending -= 1
        if frame != self._frame:
            self._most_made = max(self._most_made, self._made)
            self._frame, self._made = frame, 0
        self._made += 1
        return True

    def reached(self, lead_s: float) -> None:
        """A call took so long from its admission until it could leave."""
        if lead_s > self.lead_s or self.lead_s > FIRST_LEAD_S:
            self.lead_s = min(MAX_LEAD_S, max(lead_s * 1.25, self.lead_s * LEAD_DECAY, FIRST_LEAD_S))

    def give(self, tick: float) -> None:
        """A call has ended. When others wait and this node had its slice of time, its permit goes back too."""
        self._in_use = max(0, self._in_use - 1)
        self._touched_at = tick
        self._come_down(tick)

    def undo(self, tick: float) -> None:
        """An admitted call does not leave after all."""
        self.pending -= 1
        self.give(tick)

    def room(self, tick: float) -> int:
        """How many could be admitted now."""
        limit = self.limit
        places = MANY if limit.rate is None else max(0, self._places(tick) - self.pending)
        if limit.concurrency is None:
            return places
        return min(places, max(0, self._held - self._in_use) if tick < self._valid_until else 0)

    def wait(self, many: int, tick: float) -> None:
        """So many still wait, although they do not ask one by one."""
        self._refused = max(self._refused, many)
        self._refused_at = self._touched_at = tick

    def next_place_s(self, tick: float) -> float | None:
        """Seconds until a frame with a place begins, or comes within reach; None where none is granted."""
        found = [next_s for lead_s in (0.0, self.lead_s) if (next_s := self._next_s(tick, lead_s)) is not None]
        return min(found, default=None)

    def due_at(self, tick: float) -> float | None:
        """From when on a round is worth it, as things stand; None where nothing is in it and nothing wanted."""
        if self._refused or self._owing or (self._waiting and tick - self._refused_at < LINGER):
            return self._asked_at + self._pace
        return None if self.empty else self._asked_at + SLICE

    @property
    def empty(self) -> bool:
        """Nothing in it, nothing wanted: it may be forgotten."""
        in_use = self._in_use if self.limit.concurrency is not None else self.pending
        return not (in_use or self._held or self._calls or self._refused or self._waiting)

    def retire(self) -> None:
        """Nobody takes from it any more: all that is not in use goes back with the next round."""
        self._touched_at = self._refused_at = self._asked_at = -math.inf
        self._refused = self._waiting = 0
        self._owing = True

    def ask(self, tick: float) -> Ask:
        """What to ask for. What is offered back is not used any more, whatever comes of the round."""
        idle = tick - self._touched_at > LINGER and not self.pending
        if self._refused or tick - self._refused_at >= LINGER:
            self._waiting = self._refused
        most = self.limit.concurrency
        if idle and most is not None:
            self._held = self._in_use
        self._come_down(tick)
        wanted = 0 if most is None else max(self._in_use, min(self._in_use + self._waiting, most))
        self._asked_at, self._refused, self._owing = tick, 0, False
        ask = Ask(keep=self._held, wanted=wanted)
        return ask if self.limit.rate is None else self._ask_for_calls(ask, tick, idle=idle)

    def granted(self, asked: Ask, grant: Grant, sent: float, now: float) -> bool:
        """Take what a round brought, which counts from when it was sent; returns whether there is something new."""
        more = grant.held - asked.keep
        if more > 0:
            self._granted_at = now
        self._held += more
        self._share = grant.share
        for frame, calls in grant.calls.items():
            self._calls[frame] = self._calls.get(frame, 0) + calls
        self._valid_until, self._round_s = sent + self._life, now - sent
        self._holders = grant.holders
        self._pace = max(ROUND, PER_HOLDER * grant.holders)
        return more > 0 or bool(grant.calls)

    def _next_s(self, tick: float, lead_s: float) -> float | None:
        now = tick + self.shift_s + lead_s
        ahead = [frame for frame, calls in self._calls.items() if calls and frame * FRAME_S > now]
        return min(ahead) * FRAME_S - now if ahead else None

    def _frame_at(self, tick: float) -> int:
        return int((tick + self.shift_s) * FRAMES_PER_S)

    @property
    def _alone(self) -> bool:
        return self._holders == 1

    def _places(self, tick: float) -> int:
        """How many calls the frames take that a call admitted now can reach."""
        now, calls = tick + self.shift_s, self._calls
        first, last = int(now * FRAMES_PER_S), int((now + self.lead_s) * FRAMES_PER_S)
        if first == last:
            return calls.get(first, 0)
        return sum([calls.get(frame, 0) for frame in range(first, last + 1)])

    def _ask_for_calls(self, ask: Ask, tick: float, *, idle: bool) -> Ask:
        """Ask for what was used lately and for what waits; the rest goes back.

        While nobody else comes, at least one call in each frame is kept, so that the next one need not wait.
        """
        need = 0 if idle else self._most_in_a_frame(tick)
        backlog = self._waiting + self.pending
        back = self._take_back(need, backlog, tick)
        if idle:
            return ask._replace(back=back)
        ahead = math.ceil((SLICE + 2 * self._round_s + self.lead_s) * FRAMES_PER_S) + SPARE_FRAMES
        had, ahead = dict(self._calls), min(ahead, MAX_FRAMES_AHEAD)
        return ask._replace(need=need, backlog=backlog, back=back, had=had, ahead=ahead)

    def _take_back(self, need: int, backlog: int, tick: float) -> dict[int, int]:
        """Calls that are not made: of frames that are over, and of others those that are not needed.

        Who is alone keeps what it got beyond its need. Who is not offers all above its part of the frames ahead, which
        it got while it was alone; where nobody wants it, the round brings it back.
        """
        part = math.ceil(self.limit.inflow.gain / self._holders) + 1
        now = self._frame_at(tick)
        back: dict[int, int] = {}
        for frame, calls in sorted(self._calls.items()):
            keep = calls if need and self._alone else min(calls, need + backlog)
            if not now <= frame <= now + 2 * MAX_FRAMES_AHEAD:
                keep = 0
            elif frame >= now + NEAR_FRAMES and not self._alone:
                keep = min(keep, part)
            backlog -= min(backlog, max(0, keep - need))
            if keep:
                self._calls[frame] = keep
            else:
                del self._calls[frame]
            if keep < calls:
                back[frame] = calls - keep
        return back

    def _most_in_a_frame(self, tick: float) -> int:
        """The calls of the frame that had most of them lately; while others come, of those since the last round."""
        most = max(self._most_made, self._made)
        if self._frame != self._frame_at(tick):
            self._made = 0
        self._most_made = most * NEED_DECAY if self._alone else 0.0
        return max(math.ceil(most), 1) if self._alone else math.ceil(most)

    def _come_down(self, tick: float) -> None:
        if self._held > self._share and tick - self._granted_at >= SLICE:
            self._owing = self._owing or self._held > max(self._in_use, self._share)
            self._held = max(self._in_use, self._share)

    def _has_permit(self, tick: float) -> bool:
        return self.limit.concurrency is None or (self._in_use < self._held and tick < self._valid_until)
