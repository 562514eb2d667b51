"""A timer that has come due, with what is needed to decide about it."""

import math
from typing import TYPE_CHECKING, Final, Protocol

from horae.domain.jobs import Job
from horae.domain.limits import Key
from horae.domain.timers import Timer

if TYPE_CHECKING:
    from horae.engine.admission.target import Target
    from horae.engine.admission.waiting import WaitingQueue

MAX_HELD_MS: Final = 2**31 - 1


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
    """Waits for its turn, or for a gate that is closed. `held_ms` is what gates have cost it so far.

    `queue` is where it waits, `entered_at_s` how long that queue had been held when it came. `earned` is what its call
    adds to the retries its target has earned, `asked_for` whether the target asked for this retry itself. `quotas` are
    the limits that count it, `paces` those with a rate until it leaves; it was `admitted_at` that
    time, and the rates let it wait for `paced_s` afterwards. `holds_slot` says that a slot of the node is held for it,
    `counted` that its target counts it: each is given back once, however often somebody gives it back.
    """

    __slots__ = (
        "admitted_at",
        "asked_for",
        "counted",
        "desk",
        "earned",
        "entered_at_s",
        "held_ms",
        "holds_slot",
        "job",
        "paced_s",
        "paces",
        "probe",
        "queue",
        "quotas",
        "target",
        "timer",
    )

    def __init__(self, timer: Timer, job: Job, desk: Desk, target: "Target") -> None:
        self.timer = timer
        self.job = job
        self.desk = desk
        self.target = target
        self.held_ms = 0
        self.queue: WaitingQueue | None = None
        self.entered_at_s = 0.0
        self.probe = self.holds_slot = self.counted = False
        self.earned = 0.0
        self.asked_for = False
        self.quotas: tuple[Key, ...] = ()
        self.paces: tuple[Key, ...] = ()
        self.admitted_at = self.paced_s = 0.0

    @property
    def most_at_target(self) -> float:
        """How many calls its target may have under way with it."""
        return getattr(self.job.definition.target, "max_concurrency", None) or math.inf

    def unrecorded_s(self, wall: float) -> float:
        """Seconds for which a fire is late and nobody knows of it; zero where its row is there already.

        Counted from when it was due, not from when it came to this gate: a schedule that is capped for long would else
        fall behind by a little with every fire.
        """
        return 0.0 if self.timer.fired is None else wall - self.timer.at.timestamp()

    def add_held(self, seconds: float) -> None:
        """A gate was closed for it for so long."""
        if seconds > 0:
            self.held_ms = min(self.held_ms + round(seconds * 1000), MAX_HELD_MS)
