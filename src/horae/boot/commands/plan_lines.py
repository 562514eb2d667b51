"""A plan as a person reads it, and as a program does."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Final

import msgspec

from horae.boot.telling import out
from horae.domain.diffs import Difference
from horae.domain.plans import Change, Conflict, Create, Keep, Leave, Prune, Refused, Step
from horae.service.plans import Line, Plan

SIGNS: Final[dict[type, tuple[str, str]]] = {
    Create: ("+", "green"),
    Change: ("~", "yellow"),
    Prune: ("-", "red"),
    Leave: ("?", "dim"),
    Conflict: ("!", "bold magenta"),
    Refused: ("✗", "red"),
}
WORDS: Final = {
    "create": "to create",
    "change": "to change",
    "keep": "unchanged",
    "prune": "to prune",
    "leave": "declared no longer (--prune removes them)",
    "conflict": "in conflict (--force overwrites)",
    "refused": "refused",
}


def print_plan(plan: Plan) -> None:
    """Every step but those that change nothing, and a sum."""
    for line in plan.lines:
        if not isinstance(line.step, Keep):
            sign, colour = SIGNS[type(line.step)]
            out.print(f"{sign} {line.step.name}: {_what(line.step)}", style=colour, highlight=False, soft_wrap=True)
            for text in _details(line):
                out.print(f"    {text}", highlight=False, soft_wrap=True)
    counts = plan.counts()
    said = ", ".join(f"{counts[kind]} {words}" for kind, words in WORDS.items() if counts.get(kind))
    out.print(f"{plan.owner}: {said or 'no jobs'}", highlight=False)


def facts(plan: Plan) -> dict[str, Any]:
    """The same for a program."""
    return {"owner": plan.owner, "counts": plan.counts(), "steps": [_facts(line) for line in plan.lines]}


def _what(step: Step) -> str:
    match step:
        case Create(paused=paused):
            return "create, paused" if paused else "create"
        case Change() as change:
            then = {True: ", and pause", False: ", and resume", None: ""}[change.pause]
            return ("change" if change.fields else "note what others did alike" if change.edits else "keep") + then
        case Conflict(reason=reason):
            return f"conflict: {reason}"
        case Refused(reason=reason):
            return f"refused: {reason}"
        case Leave():
            return "declared no longer; left alone"
        case _:
            return "remove"


def _details(line: Line) -> Iterator[str]:
    step = line.step.force if isinstance(line.step, Conflict) else line.step
    if isinstance(line.step, Conflict):
        yield from (f"theirs {edit.text}" for edit in line.step.edits)
    if isinstance(step, Change):
        label = "ours   " if isinstance(line.step, Conflict) else ""
        yield from (f"{label}{field.text}" for field in step.fields)
    if line.before or (isinstance(step, Change) and line.after):
        yield f"fired next  {_times(line.before)}"
    if line.after:
        yield f"fires next  {_times(line.after)}"


def _facts(line: Line) -> dict[str, Any]:
    step = line.step
    change = step.force if isinstance(step, Conflict) else step
    told: dict[str, Any] = {"name": step.name, "step": type(step).__name__.lower()}
    if isinstance(step, Conflict | Refused):
        told["reason"] = step.reason
    if isinstance(step, Conflict):
        told["edits"] = [_place(one) for one in step.edits]
    if isinstance(change, Change):
        told |= {"fields": [_place(one) for one in change.fields], "pause": change.pause}
    if line.before or line.after:
        told |= {"fires_before": line.before, "fires_after": line.after}
    return told


def _place(one: Difference) -> dict[str, Any]:
    before, after = (None if value is msgspec.UNSET else value for value in (one.before, one.after))
    return {"path": one.path, "before": before, "after": after}


def _times(times: Sequence[datetime]) -> str:
    return ", ".join(f"{at:%Y-%m-%d %H:%M:%S}" for at in times) + " UTC" if times else "never"
