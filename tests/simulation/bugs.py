"""Bugs that real schedulers had, planted to see that the simulation finds them."""

from datetime import datetime
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from horae.domain.schedules import Schedule, Step, advance, first_wake
from horae.engine import fire

if TYPE_CHECKING:
    from tests.simulation.world import World

GUARD = "and l.attempt = g.attempt and l.token = g.token"
SEEN = "and (g.seen_deadline is null or l.deadline = g.seen_deadline)"


class Bug:
    """Changes statements, or code, or both; nothing by itself."""

    def statement(self, _name: str, text: str) -> str:
        return text

    def plant(self, world: "World") -> None:
        """Before the seed."""

    def remove(self) -> None:
        """After it."""


class TokenDropped(Bug):
    """Settle writes to whatever runs now, whoever runs it."""

    def statement(self, name: str, text: str) -> str:
        settles = {"instances/instances/end", "instances/instances/succeed", "instances/instances/retry_later"}
        return _without(text, GUARD) if name in settles else text


class RescueUnguarded(Bug):
    """The rescuer writes what it decided from an old reading."""

    def statement(self, name: str, text: str) -> str:
        if name not in {"instances/instances/end", "instances/instances/retry_later"}:
            return text
        text = _without(text, SEEN)
        return text.replace(GUARD, f"and (g.seen_deadline is not null or ({GUARD[4:]}))")


class NextFromNow(Bug):
    """The next fire is computed from the clock, not from the cursor."""

    def plant(self, world: "World") -> None:
        def from_now(schedule: Schedule, stood_at: datetime, now: datetime, *, fired: int = 0) -> Step:
            step = advance(schedule, stood_at, now, fired=fired)
            return Step(step.verdicts, first_wake(schedule, max(now, stood_at)))

        self._patched: Any = patch.object(fire, "advance", from_now)
        self._patched.start()

    def remove(self) -> None:
        self._patched.stop()


class CursorUncompared(Bug):
    """A fire moves its cursor without looking where it stands."""

    def statement(self, name: str, text: str) -> str:
        return _without(
            text, "and c.next_fire_at = any(array[least(f.fire_time, f.due_at)])", name == "schedules/cursors/fire"
        )


def _without(text: str, part: str, here: bool = True) -> str:
    if not here:
        return text
    assert part in text, f"the statement has changed; where is {part!r}?"
    return text.replace(part, "")


PLANTED: dict[str, type[Bug]] = {
    "token_dropped_from_settle": TokenDropped,
    "next_fire_from_now": NextFromNow,
    "rescue_without_guard": RescueUnguarded,
    "cursor_not_compared": CursorUncompared,
}
