"""Draws graphs for people: each step once, below the last of the steps that it needs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, Protocol, TypeVar

from horae.boot.output import out
from horae.boot.times import moment
from horae_client.models import GraphRun, GraphStep, Job, RunStep

DEFAULT_RULE: Final = "all_success"
SIGNS: Final = {
    "WAITING": ("·", "dim"),
    "BLOCKED": ("!", "bold magenta"),
    "RELEASED": ("▶", "cyan"),
    "SUCCESS": ("✓", "green"),
    "DEAD": ("✗", "red"),
    "CANCELLED": ("✗", "yellow"),
    "SKIPPED": ("-", "dim"),
    "WAIVED": ("-", "yellow"),
}


class AnyStep(Protocol):
    """A step of a graph, or of a run."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def needs(self) -> list[str]:
        """The steps that it needs."""

    @property
    def rule(self) -> str:
        """When it runs."""


Step = TypeVar("Step", bound=AnyStep)


def print_graph(job: Job) -> None:
    """Print a graph: its steps with their calls."""
    steps = job.steps or []
    limit = f", a run may take {job.run_deadline:g} s" if job.run_deadline is not None else ""
    text = f"{job.name}, version {job.version}, {job.status}: {len(steps)} steps{limit}"
    out.print(text, highlight=False, soft_wrap=True)
    _print_lines(steps, lambda step: (_call(step), None))


def print_run(run: GraphRun) -> None:
    """Print a run: its steps with their states."""
    state = f"{run.state}, blocked: a person decides how it goes on" if run.blocked else run.state
    until = f"ended {moment(run.ended_at)}" if run.ended_at else f"until {moment(run.deadline_at)} at the latest"
    text = f"{run.id}: {state}; fire time {moment(run.fire_time)}, version {run.job_version}, {until} (UTC)"
    out.print(text, highlight=False, soft_wrap=True)
    _print_lines(run.steps or [], _state)


def tree(steps: Sequence[AnyStep]) -> Iterator[tuple[str, AnyStep]]:
    """The steps in the order of the drawing, each with the lines before it.

    A step stands below the last of the steps that it needs. `steps` are in the order of the graph, so that one comes
    after all the others.
    """
    places = {step.name: place for place, step in enumerate(steps)}
    below: dict[str | None, list[AnyStep]] = {}
    for step in steps:
        below.setdefault(max(step.needs, key=places.__getitem__) if step.needs else None, []).append(step)
    left: list[tuple[str, str, AnyStep]] = [("", "", step) for step in reversed(below.get(None, []))]
    while left:  # a graph may be as deep as it has steps: so no recursion
        before, branch, step = left.pop()
        yield before + branch, step
        inner = before + {"": "", "├─ ": "│  ", "└─ ": "   "}[branch]
        children = below.get(step.name, [])
        for number, child in enumerate(reversed(children)):
            left.append((inner, "├─ " if number else "└─ ", child))


def _print_lines(steps: Sequence[Step], show: Callable[[Step], tuple[str, str | None]]) -> None:
    by_name: Mapping[str, Step] = {step.name: step for step in steps}
    drawn = [(f"{before}{step.name}", by_name[step.name]) for before, step in tree(steps)]
    width = max((len(text) for text, _ in drawn), default=0)
    for text, step in drawn:
        fact, colour = show(step)
        facts = [fact, *_conditions(step)]
        line = f"{text:<{width}}  {'; '.join(filter(None, facts))}".rstrip()
        out.print(line, style=colour, highlight=False, soft_wrap=True)


def _conditions(step: AnyStep) -> Iterator[str]:
    if step.rule != DEFAULT_RULE:
        yield step.rule
    if len(step.needs) > 1:
        yield f"needs {', '.join(step.needs)}"
    if isinstance(step, GraphStep) and step.each is not None:
        yield "for each element of a list"
    if isinstance(step, RunStep) and step.children is not None:
        yield ", ".join([f"{step.children:,} elements", *_counts(step)])


def _counts(step: RunStep) -> list[str]:
    return [f"{count:,} {state}" for state, count in sorted((step.child_states or {}).items())]


def _call(step: GraphStep) -> str:
    target = step.target
    match target.get("kind"):
        case "http":
            return f"{target.get('method', 'POST')} {target['url']}"
        case "topic":
            return f"topic {target['broker']}/{target['topic']}"
        case _:
            return f"queue {target.get('name')}"


def _state(step: RunStep) -> tuple[str, str | None]:
    sign, colour = SIGNS.get(step.state, ("?", None))
    facts = [f"{sign} {step.state}", step.reason, step.instance_id]
    return "  ".join(fact for fact in facts if fact), colour
