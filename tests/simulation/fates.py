"""What becomes of each call, by the seed: how long it takes, whether it is lost, and who does not survive it."""

from enum import StrEnum
from random import Random


class Fate(StrEnum):
    """Of a call to the store."""

    WELL = "well"
    LOST_BEFORE = "lost before"
    LOST_AFTER = "lost after"
    CRASH = "crash"
    PAUSE = "pause"


SLOW = (
    *("transaction",) * 5,
    *(
        "instances/instances/retry_later",
        "instances/instances/end",
        "instances/instances/claim",
        "instances/instances/abandoned",
    ),
    *(
        "schedules/cursors/fire",
        "schedules/cursors/due",
        "tasks/tasks/find",
        "tasks/tasks/create",
        "tasks/tasks/move",
        "workers/workers/find_attempts",
        "nodes/leases/heartbeat",
    ),
    *("nodes/leases/take", "nothing", "nothing", "nothing"),
)
"""One kind of call is slow in each seed: what stands between a reading and the writing decided by it."""
RATES = {Fate.LOST_BEFORE: 0.012, Fate.LOST_AFTER: 0.018, Fate.CRASH: 0.006, Fate.PAUSE: 0.006}


class Fates:
    """Dice with a memory of whether there is peace."""

    def __init__(self, dice: Random, harm: float) -> None:
        self.dice = dice
        self.harm = harm
        self.slow = dice.choice((0.02, 0.1, 0.3)) if harm else 0.0
        self.slowest = dice.choice(SLOW)
        self.peace = self.quick = True

    def next(self, name: str) -> tuple[Fate, float]:
        """The fate of one call, and how long it is on its way."""
        slow = name == self.slowest and not self.quick and self.dice.random() < 0.3 * self.harm
        return self._fate(), self.dice.random() * 3 if slow else self.latency()

    def latency(self) -> float:
        """Mostly a moment. Sometimes long enough for others to be first."""
        dice = self.dice
        if self.quick or dice.random() > self.slow:
            return 0.0002 + dice.random() * 0.002
        return dice.random() * dice.choice((0.05, 0.5, 3.0))

    def work(self) -> float:
        """How long a receiver is busy with a call: at times not at all, at times nearly as long as it may."""
        return 0.0 if self.dice.random() < 0.3 else self.dice.random() * 1.4

    def happens(self, rate: float) -> bool:
        """Whether a fault of that rate strikes."""
        return not self.peace and self.dice.random() < rate * self.harm

    def pause(self) -> float:
        """For how long a process stands still: below, around and beyond a lease's life."""
        return self.dice.choice((0.3, 2.0, 8.0, 8.0, 8.0)) * (0.85 + self.dice.random() * 0.4)

    def _fate(self) -> Fate:
        if self.peace:
            return Fate.WELL
        drawn = self.dice.random()
        for fate, rate in RATES.items():
            drawn -= rate * self.harm
            if drawn < 0:
                return fate
        return Fate.WELL
