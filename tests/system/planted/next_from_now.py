"""The next fire is computed from now, not from the cursor: what came due during an outage is passed over in silence."""

from datetime import datetime
from typing import Any

from horae.domain.schedules import Schedule, Step
from horae.domain.schedules.triggers import next_fire
from horae.engine import fire


def plant(put: Any) -> None:
    right = fire.advance

    def advance(schedule: Schedule, stood_at: datetime, now: datetime, *, fired: int = 0) -> Step:
        step = right(schedule, stood_at, now, fired=fired)
        return Step(step.verdicts, step.wake and next_fire(schedule.trigger, max(now, stood_at)))

    put(fire, "advance", advance)
