"""A timer that has come due, with what is needed to decide about it."""

from collections import deque
from typing import TYPE_CHECKING, Final, Protocol

from horae.domain.jobs import Job
from horae.domain.limits import Key
from horae.domain.timers import Timer

if TYPE_CHECKING:
    from horae.engine.admission.target import Target

LONGEST_MS: Final = 2**31 - 1


class Desk(Protocol):
    """Who carries out what was admitted: a node's work in one cell."""

    @property
    def open(self) -> bool:
        """Whether it can take more now."""
        ...

    def accept(self, ready: "Ready") -> None:
        """A slot is held for it: fire or claim it, and send it."""
        ...

    def record(self, ready: "Ready") -> None:
        """No slot is held for it: let its schedule go on, the fire waits in its row."""
        ...


class Ready:
    """Waits for its turn, or for a gate that is closed. `held_ms` is what gates have cost it so far."""

    __slots__ = ("desk", "held_ms", "job", "parked_at", "probe", "quotas", "target", "timer")

    def __init__(self, timer: Timer, job: Job, desk: Desk, target: "Target") -> None:
        self.timer = timer
        self.job = job
        self.desk = desk
        self.target = target
        self.held_ms = 0
        self.parked_at: float | None = None
        self.probe = False
        self.quotas: tuple[Key, ...] = ()

    def park(self, now: float) -> None:
        """A gate is closed for it."""
        if self.parked_at is None:
            self.parked_at = now

    def unrecorded_s(self, now: float) -> float:
        """Seconds for which a fire is late and nobody knows of it; zero where its row is there already.

        Counted from when it was due, not from when it came to this gate: a schedule that is capped for long would else
        fall behind by a little with every fire.
        """
        return 0.0 if self.timer.fired is None else now - self.timer.at.timestamp()

    def unpark(self, now: float) -> None:
        """It goes back into its queue."""
        if self.parked_at is not None:
            self.held_ms = min(self.held_ms + round((now - self.parked_at) * 1000), LONGEST_MS)
            self.parked_at = None


def late_fires(queue: deque[Ready], now: float, longer_than: float, most: int) -> list[Ready]:
    """Fires that have waited in a gate's queue without being recorded yet; they leave it for that."""
    found: list[Ready] = []
    for _ in range(len(queue)):
        ready = queue.popleft()
        if ready.unrecorded_s(now) > longer_than and len(found) < most:
            ready.unpark(now)
            found.append(ready)
        else:
            queue.append(ready)
    return found
