"""The one table of state transitions. The diagram, the CHECK constraints and tests derive from it.

A new instance is a transition from `None`. A final state has no transition: late answers, rescues and moves find zero
rows, because the live row is gone.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class State(StrEnum):
    """The state of an instance."""

    INIT = "INIT"
    BLOCKED = "BLOCKED"
    RUNNING = "RUNNING"
    FAIL = "FAIL"
    SUCCESS = "SUCCESS"
    DEAD = "DEAD"
    CANCELLED = "CANCELLED"
    SKIPPED = "SKIPPED"


LIVE: Final = frozenset({State.INIT, State.BLOCKED, State.RUNNING, State.FAIL})
FINAL: Final = frozenset(State) - LIVE
WAITING: Final = LIVE - {State.RUNNING}

TRANSITIONS: Final[Mapping[State | None, Mapping[State, str]]] = MappingProxyType(
    {
        None: {
            State.INIT: "due later, or no slot yet",
            State.RUNNING: "fired with a slot in hand",
            State.BLOCKED: "waits for its parents, or for the fire before it",
            State.SKIPPED: "a verdict instead of a run",
        },
        State.INIT: {
            State.INIT: "moved",
            State.RUNNING: "claimed",
            State.CANCELLED: "cancelled",
            State.SKIPPED: "expired, never sent",
            State.DEAD: "expired, sent before or a task",
        },
        State.BLOCKED: {
            State.BLOCKED: "moved",
            State.INIT: "released",
            State.CANCELLED: "cancelled",
            State.SKIPPED: "expired, never sent",
        },
        State.RUNNING: {
            State.SUCCESS: "answered 2xx",
            State.FAIL: "failed, will retry; or lost, had failed before",
            State.DEAD: "exhausted or unrecoverable",
            State.CANCELLED: "cancelled or replaced",
            State.SKIPPED: "declined by the receiver",
            State.INIT: "handed back or lost",
        },
        State.FAIL: {
            State.FAIL: "moved",
            State.RUNNING: "claimed again",
            State.CANCELLED: "cancelled",
            State.DEAD: "expired",
        },
    }
)
"""The allowed transitions, with their reasons."""


def may_become(before: State | None, after: State) -> bool:
    """Whether the table allows this transition."""
    return after in TRANSITIONS.get(before, {})


def diagram() -> str:
    """Return the table as a Mermaid state diagram, as in `docs/lifecycle.md`."""
    lines = ["stateDiagram-v2"]
    for before, ways in TRANSITIONS.items():
        lines += [f"    {before or '[*]'} --> {after}: {why}" for after, why in ways.items()]
    lines += [f"    {state} --> [*]" for state in State if state in FINAL]
    return "\n".join(lines)
