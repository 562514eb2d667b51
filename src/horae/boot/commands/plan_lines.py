"""Formats a plan for people and for programs."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Final

import msgspec

from horae.boot.output import out
from horae.domain.jobs.diffs import FieldDifference
from horae.domain.plans.plans import (
    ChangeStep,
    ConflictStep,
    CreateStep,
    Keep,
    Leave,
    Prune,
    RefusedStep,
    Step,
    word_of,
)
from horae.service.plans import PlanLine, SourcePlan

SIGNS: Final[dict[type, tuple[str, str]]] = {
    CreateStep: ("+", "green"),
    ChangeStep: ("~", "yellow"),
    Prune: ("-", "red"),
    Leave: ("?", "dim"),
    ConflictStep: ("!", "bold magenta"),
    RefusedStep: ("✗", "red"),
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


def print_plan(plan: SourcePlan) -> None:
    """Print every step that changes something, and a summary."""
    for line in plan.lines:
        if not isinstance(line.step, Keep):
            sign, colour = SIGNS[type(line.step)]
            out.print(f"{sign} {line.step.name}: {_what(line.step)}", style=colour, highlight=False, soft_wrap=True)
            for text in _details(line):
                out.print(f"    {text}", highlight=False, soft_wrap=True)
    counts = plan.counts()
    said = ", ".join(f"{counts[kind]} {words}" for kind, words in WORDS.items() if counts.get(kind))
    out.print(f"{plan.owner}: {said or 'no jobs'}", highlight=False)


def facts(plan: SourcePlan) -> dict[str, Any]:
    """The plan as data, for `--json`."""
    return {"owner": plan.owner, "counts": plan.counts(), "steps": [_facts(line) for line in plan.lines]}


def _what(step: Step) -> str:
    match step:
        case CreateStep(paused=paused):
            return "create, paused" if paused else "create"
        case ChangeStep() as change:
            then = {True: ", and pause", False: ", and resume", None: ""}[change.pause]
            return ("change" if change.fields else "note what others did alike" if change.edits else "keep") + then
        case ConflictStep(reason=reason):
            return f"conflict: {reason}"
        case RefusedStep(reason=reason):
            return f"refused: {reason}"
        case Leave():
            return "declared no longer; left alone"
        case _:
            return "remove"


def _details(line: PlanLine) -> Iterator[str]:
    step = line.step.force if isinstance(line.step, ConflictStep) else line.step
    if isinstance(line.step, ConflictStep):
        yield from (f"theirs {edit.text}" for edit in line.step.edits)
    if isinstance(step, ChangeStep):
        label = "ours   " if isinstance(line.step, ConflictStep) else ""
        yield from (f"{label}{field.text}" for field in step.fields)
    if line.before or (isinstance(step, ChangeStep) and line.after):
        yield f"next fires before  {_times(line.before)}"
    if line.after:
        yield f"next fires now     {_times(line.after)}"


def _facts(line: PlanLine) -> dict[str, Any]:
    step = line.step
    change = step.force if isinstance(step, ConflictStep) else step
    facts: dict[str, Any] = {"name": step.name, "step": word_of(step)}
    if isinstance(step, ConflictStep | RefusedStep):
        facts["reason"] = step.reason
    if isinstance(step, ConflictStep):
        facts["edits"] = [_place(one) for one in step.edits]
    if isinstance(change, ChangeStep):
        facts |= {"fields": [_place(one) for one in change.fields], "pause": change.pause}
    if line.before or line.after:
        facts |= {"fires_before": line.before, "fires_after": line.after}
    return facts


def _place(one: FieldDifference) -> dict[str, Any]:
    before, after = (None if value is msgspec.UNSET else value for value in (one.before, one.after))
    return {"path": one.path, "before": before, "after": after}


def _times(times: Sequence[datetime]) -> str:
    return ", ".join(f"{at:%Y-%m-%d %H:%M:%S}" for at in times) + " UTC" if times else "never"
