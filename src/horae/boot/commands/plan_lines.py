"""Formats a plan for people."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from horae.boot.output import out
from horae_client.models import Plan, PlanStep

SIGNS: Final = {
    "create": ("+", "green"),
    "change": ("~", "yellow"),
    "prune": ("-", "red"),
    "leave": ("?", "dim"),
    "conflict": ("!", "bold magenta"),
    "refused": ("✗", "red"),
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
CHANGES: Final = ("create", "change", "prune")
"""The steps that change something."""


def changes_in(plan: Plan) -> int:
    """How many steps of a plan change something."""
    return sum(plan.counts.get(step, 0) for step in CHANGES)


def print_plan(plan: Plan) -> None:
    """Print every step that changes something, and a summary."""
    for step in plan.steps:
        if step.step != "keep":
            sign, colour = SIGNS.get(step.step, ("?", "dim"))
            out.print(f"{sign} {step.name}: {_what(step)}", style=colour, highlight=False, soft_wrap=True)
            for text in _details(step):
                out.print(f"    {text}", highlight=False, soft_wrap=True)
    said = ", ".join(f"{plan.counts[kind]} {words}" for kind, words in WORDS.items() if plan.counts.get(kind))
    out.print(f"{plan.owner or 'spread'}: {said or 'no jobs'}", highlight=False)


def _what(step: PlanStep) -> str:
    match step.step:
        case "create":
            return "create, paused" if step.paused else "create"
        case "change":
            then = {True: ", and pause", False: ", and resume", None: ""}[step.pause]
            return ("change" if step.fields else "keep" if step.pause is not None else "note what others did") + then
        case "conflict" | "refused":
            return f"{step.step}: {step.reason}"
        case "leave":
            return "declared no longer; left alone"
        case _:
            return "remove"


def _details(step: PlanStep) -> Iterator[str]:
    yield from (f"theirs {edit.text}" for edit in step.edits)
    label = "ours   " if step.step == "conflict" else ""
    yield from (f"{label}{field.text}" for field in step.fields)
    if step.fires_before or (step.fields and step.fires_after):
        yield f"next fires before  {_times(step.fires_before)}"
    if step.fires_after:
        yield f"next fires now     {_times(step.fires_after)}"
    yield from (f"warning: {sentence}" for sentence in step.warnings)


def _times(times: Sequence[datetime]) -> str:
    return ", ".join(f"{at:%Y-%m-%d %H:%M:%S}" for at in times) + " UTC" if times else "never"
