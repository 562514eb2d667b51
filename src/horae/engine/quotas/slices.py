"""A node's slice of one shared limit: the permits and calls that it may use from memory until the next round."""

import math
from typing import Final

from horae.domain.limits.frames import FRAME_S, FRAMES_PER_S, MAX_FRAMES_AHEAD
from horae.domain.limits.limits import NEAR_FRAMES, SLICE_S, Ask, Limit, LimitGrant

ROUND_INTERVAL_S: Final = 0.1
"""Seconds between two rounds while calls wait."""
ROUND_INTERVAL_PER_HOLDER_S: Final = 0.01
"""Seconds between two rounds, per node that shares the limit, so that the row is not overloaded by many nodes."""
LINGER_S: Final = 1.0
"""Seconds for which a refused call counts as waiting, and after which an unused slice is given back."""
FIRST_LEAD_S: Final = 0.05
MAX_LEAD_S: Final = 1.0
LEAD_DECAY_FACTOR: Final = 0.95
NEED_DECAY_FACTOR: Final = 0.9
"""What remains, from one round to the next, of the largest number of calls in a frame."""
SPARE_FRAMES: Final = 3

MANY: Final = 1 << 30


class Slice:
    """The counts of one slice. Ticks are passed in; `life` is the seconds that permits are valid without a renewal.

    1. Permits: `_held` are granted, `_in_use` are taken by calls.
    2. Calls of a rate are granted per frame: `_calls` has the free places by frame number. Frames are those of the home
       cell's clock, which is ticks plus `shift_s`.
    3. A call is admitted when a frame that it can reach has a place, and takes the place when it leaves. `pending`
       calls are admitted and have not left. `lead_s` is the measured time from admission to departure.

    `planned_at` is the tick at which `Quotas` looks whether a round is needed.
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
        self._asked_at = self._granted_at = self._refused_at = self._touched_at = -LINGER_S
        self._pace = ROUND_INTERVAL_S
        self._round_s = 0.0
        self._holders = 1
        self._owing = False

    def note_limit(self, limit: Limit, tick: float) -> None:
        """Note a limit that a job names for this key. The least limit named in the last one to two seconds applies."""
        if tick - self._limit_since >= LINGER_S:
            self.limit, self._next_limit, self._limit_since = self._next_limit.least(limit), limit, tick
        if limit is not self.limit and limit != self.limit:
            self.limit = self.limit.least(limit)
            self._next_limit = self._next_limit.least(limit)

    def take(self, tick: float, *, rated: bool) -> bool:
        """Count a call as admitted; False if a place in a frame or a permit is missing."""
        self._touched_at = tick
        if (not rated or self.pending < self._places(tick)) and self._has_permit(tick):
            self.pending += rated
            self._in_use += 1
            return True
        self._refused += 1
        self._refused_at = tick
        return False

    def has_place(self, tick: float) -> bool:
        """Whether an admitted call may leave now: the present frame has a place, or the limit has no rate."""
        return self._calls.get(self._frame_at(tick), 0) > 0 or self.limit.rate is None

    def leave(self, tick: float) -> bool:
        """Let an admitted call leave in a place of the present frame; False if there is no place."""
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

    def record_lead(self, lead_s: float) -> None:
        """Update the measured lead time. It grows at once and shrinks slowly."""
        if lead_s > self.lead_s or self.lead_s > FIRST_LEAD_S:
            self.lead_s = min(MAX_LEAD_S, max(lead_s * 1.25, self.lead_s * LEAD_DECAY_FACTOR, FIRST_LEAD_S))

    def give(self, tick: float) -> None:
        """A call has ended. If this node holds more than its share and had its time, the permit goes back too."""
        self._in_use = max(0, self._in_use - 1)
        self._touched_at = tick
        self._come_down(tick)

    def undo(self, tick: float) -> None:
        """An admitted call is not sent: undo `take`."""
        self.pending -= 1
        self.give(tick)

    def room(self, tick: float) -> int:
        """How many calls could be admitted now."""
        limit = self.limit
        places = MANY if limit.rate is None else max(0, self._places(tick) - self.pending)
        if limit.concurrency is None:
            return places
        return min(places, max(0, self._held - self._in_use) if tick < self._valid_until else 0)

    def wait(self, many: int, tick: float) -> None:
        """Record that at least this many calls wait, although each does not call `take` again."""
        self._refused = max(self._refused, many)
        self._refused_at = self._touched_at = tick

    def next_place_s(self, tick: float) -> float | None:
        """Seconds until a frame with a place begins, or comes within the lead time; None if none is granted."""
        found = [next_s for lead_s in (0.0, self.lead_s) if (next_s := self._next_s(tick, lead_s)) is not None]
        return min(found, default=None)

    def due_at(self, tick: float) -> float | None:
        """The tick from which a round is needed, as of now; None if the slice is empty and no call waits."""
        if self._refused or self._owing or (self._waiting and tick - self._refused_at < LINGER_S):
            return self._asked_at + self._pace
        return None if self.empty else self._asked_at + SLICE_S

    @property
    def empty(self) -> bool:
        """Whether the slice holds nothing and no call waits: it may be forgotten."""
        in_use = self._in_use if self.limit.concurrency is not None else self.pending
        return not (in_use or self._held or self._calls or self._refused or self._waiting)

    def retire(self) -> None:
        """Prepare the last round: everything that is not in use goes back with it."""
        self._touched_at = self._refused_at = self._asked_at = -math.inf
        self._refused = self._waiting = 0
        self._owing = True

    def ask(self, tick: float) -> Ask:
        """What to ask for in a round. What is offered back is not used any more, even if the round fails.

        1. The slice is idle if it was not used for a second and no admitted call is about to leave.
        2. Waiting calls are the refusals since the last round. Older ones count until a second after the last refusal.
        3. Permits: an idle slice keeps only the ones in use. A slice above its share comes down to the share, as far as
           calls have ended. It wants the permits in use plus one per waiting call, up to the limit.
        4. The counts of refusals start again from zero.
        5. Calls of a rate: see `_ask_for_calls`.
        """
        idle = tick - self._touched_at > LINGER_S and not self.pending
        if self._refused or tick - self._refused_at >= LINGER_S:
            self._waiting = self._refused
        most = self.limit.concurrency
        if idle and most is not None:
            self._held = self._in_use
        self._come_down(tick)
        wanted = 0 if most is None else max(self._in_use, min(self._in_use + self._waiting, most))
        self._asked_at, self._refused, self._owing = tick, 0, False
        ask = Ask(keep=self._held, wanted=wanted)
        return ask if self.limit.rate is None else self._ask_for_calls(ask, tick, idle=idle)

    def add_grant(self, asked: Ask, grant: LimitGrant, sent: float, now: float) -> bool:
        """Add what a round granted; returns whether there is something new. Permits are valid from the tick `sent`."""
        more = grant.held - asked.keep
        if more > 0:
            self._granted_at = now
        self._held += more
        self._share = grant.share
        for frame, calls in grant.calls.items():
            self._calls[frame] = self._calls.get(frame, 0) + calls
        self._valid_until, self._round_s = sent + self._life, now - sent
        self._holders = grant.holders
        self._pace = max(ROUND_INTERVAL_S, ROUND_INTERVAL_PER_HOLDER_S * grant.holders)
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
        """The free places in the frames that a call admitted now can reach."""
        now, calls = tick + self.shift_s, self._calls
        first, last = int(now * FRAMES_PER_S), int((now + self.lead_s) * FRAMES_PER_S)
        if first == last:
            return calls.get(first, 0)
        return sum([calls.get(frame, 0) for frame in range(first, last + 1)])

    def _ask_for_calls(self, ask: Ask, tick: float, *, idle: bool) -> Ask:
        """Ask for the calls used lately and for the waiting calls; give the rest back.

        While no other node shares the limit, at least one call per frame is kept, so that the next call does not wait.
        """
        need = 0 if idle else self._most_in_a_frame(tick)
        backlog = self._waiting + self.pending
        back = self._take_back(need, backlog, tick)
        if idle:
            return ask._replace(back=back)
        ahead = math.ceil((SLICE_S + 2 * self._round_s + self.lead_s) * FRAMES_PER_S) + SPARE_FRAMES
        had, ahead = dict(self._calls), min(ahead, MAX_FRAMES_AHEAD)
        return ask._replace(need=need, backlog=backlog, back=back, had=had, ahead=ahead)

    def _take_back(self, need: int, backlog: int, tick: float) -> dict[int, int]:
        """Remove and return the places to give back, by frame: frames that are over, and places that are not needed.

        A node that is alone keeps places beyond its need. Otherwise it offers everything above its part of the frames
        ahead, which it got while it was alone. If no other node wants them, the round grants them again.
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
        """The largest number of calls in one frame lately; while other nodes share the limit, since the last round."""
        most = max(self._most_made, self._made)
        if self._frame != self._frame_at(tick):
            self._made = 0
        self._most_made = most * NEED_DECAY_FACTOR if self._alone else 0.0
        return max(math.ceil(most), 1) if self._alone else math.ceil(most)

    def _come_down(self, tick: float) -> None:
        if self._held > self._share and tick - self._granted_at >= SLICE_S:
            self._owing = self._owing or self._held > max(self._in_use, self._share)
            self._held = max(self._in_use, self._share)

    def _has_permit(self, tick: float) -> bool:
        return self.limit.concurrency is None or (self._in_use < self._held and tick < self._valid_until)
