"""Prints a job for people: its trigger, its target, its next fires, and what holds it back."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

from horae.boot.commands.hold_lines import hold_line
from horae.boot.output import answer, err, out, wants_json
from horae.boot.remote import Remote, Reply
from horae.boot.times import moment
from horae_client import errors
from horae_client.asked import jobs as asked
from horae_client.models import ComingFire, Edge, Job, Schedule

NEWER_RELEASE: Final = "SCH_503_RELEASE"
"""The mark of a job whose definition was written by a newer release."""
DERIVED: Final = {"salt", "tzdata"}
"""Fields of a trigger that nobody has set."""
SINGLE: Final = {"once", "delay"}
"""Kinds of triggers that fire once."""


async def answer_job(api: Remote, reply: Reply[Job]) -> None:
    """Print the answer of a change. People see the job with its next fires, which a change does not return."""
    job = reply.value
    if not wants_json() and job.schedule is None:
        with suppress(errors.Refused):  # a job of a newer release is changed, and cannot be shown
            job = (await api.ask(asked.get(job.name))).value
    print_job(reply.facts, job)
    for warning in reply.facts.get("warnings", ()):
        err.print("warning:", style="yellow", end=" ")
        err.print(warning, highlight=False)


def print_job(facts: object, job: Job, schedule: Schedule | None = None) -> None:
    """Print a job; `schedule` has other fires than the job's own next ones."""
    text = "\n".join(_lines(job, schedule or job.schedule or Schedule()))
    answer(facts, lambda: out.print(text, highlight=False, soft_wrap=True))


def _lines(job: Job, schedule: Schedule) -> Iterator[str]:
    yield f"{job.name} {job.id} {job.status}"
    if job.unreadable == NEWER_RELEASE:
        yield "  a newer release wrote it: parts that this one cannot read have default values here"
    yield f"  trigger  {_facts(job.trigger)}"
    yield from (f"           {sentence}" for sentence in (schedule.english, schedule.chinese) if sentence)
    if job.run_deadline is None:
        yield f"  target   {_facts(job.target)}"
    else:
        names = ", ".join(step.name for step in job.steps or ())
        yield f"  steps    {names or 'of a graph'}; horae graph show draws them"
    if job.after is not None:
        yield f"  after    {job.after['job']} {job.after['on']}{_edge_text(job.edge)}"
    if job.labels:
        yield f"  labels   {' '.join(f'{key}={value}' for key, value in job.labels.items())}"
    yield from _people_lines(job)
    if job.trigger.get("kind") in SINGLE and job.next_fire_at is not None:
        yield f"  fires    {moment(job.next_fire_at)} UTC"
    elif job.status == "ACTIVE":
        for number, fire in enumerate(schedule.fires):
            yield f"  {'' if number else 'fires':<8} {_fire_text(fire)}"
    yield from (f"  held     {hold_line(hold)}" for hold in job.held or ())
    yield from (f"  warning  {sentence}" for sentence in job.warnings)


def _edge_text(edge: Edge | None) -> str:
    """How many instances an edge has started, and why not more."""
    if edge is None:
        return ""
    return f"; {edge.started} started" + (f"; {edge.error}" if edge.error else "")


def _fire_text(fire: ComingFire) -> str:
    text = f"{moment(fire.fire_time)} UTC"
    if fire.skipped is not None:
        return f"{text} skipped: {fire.skipped}"
    return text if fire.due_at in {None, fire.fire_time} else f"{text}, due {moment(fire.due_at)}"


def _people_lines(job: Job) -> list[str]:
    """A line for each field for people and alerts that the job has."""
    facts = {
        "about": None if job.description is None else " ".join(job.description.split()),
        "owner": job.owner,
        "runbook": job.runbook,
        "contacts": " ".join(job.contacts) or None,
        "late": None if job.late_after is None else f"after {job.late_after} s without a first attempt",
        "failing": None if job.fail_after is None else f"after {job.fail_after} failed runs in a row",
    }
    return [f"  {name:<8} {fact}" for name, fact in facts.items() if fact is not None]


def _facts(value: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={fact}" for name, fact in value.items() if name not in DERIVED and fact is not None)
