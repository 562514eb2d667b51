"""Simulated targets: how long they take to answer, and when they fail."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from benchmarks.simulation.event_loop import NodeLoop
from horae.domain.instances.outcomes import TargetHealth

READ_TIMEOUT_S = 5.0
"""What the product waits for an answer, unless the job says otherwise."""


class Trouble(NamedTuple):
    """A time in which a target needs longer for its answers."""

    begin: float
    end: float
    answer_s: float


class SimulatedTargets:
    """Answers every call after `answer_s`; a target in trouble takes longer, and fails beyond the read timeout.

    With a `loop`, all targets are one process that needs `call_s` for each call, as in the measurements.
    """

    def __init__(
        self, answer_s: float, troubles: Mapping[str, Trouble], loop: NodeLoop | None = None, call_s: float = 0.0
    ) -> None:
        self.answer_s = answer_s
        self.troubles = troubles
        self.loop = loop
        self.call_s = call_s

    def answer(self, url: str, now: float) -> tuple[float, TargetHealth]:
        """Seconds until the answer to a call, and what it says about the target."""
        trouble = self.troubles.get(url)
        if trouble is None or not trouble.begin <= now < trouble.end:
            return self.answer_s, TargetHealth.OK
        if trouble.answer_s > READ_TIMEOUT_S:
            return READ_TIMEOUT_S, TargetHealth.FAILED
        return trouble.answer_s, TargetHealth.OK

    def receive(self, calls: int, done: Callable[[], None]) -> None:
        """Calls arrive: `done` is called when the target has read them."""
        if self.loop is None:
            done()
            return
        loop = self.loop

        def read() -> None:
            loop.use(calls * self.call_s)
            loop.call_soon(done)

        loop.call_soon(read)
