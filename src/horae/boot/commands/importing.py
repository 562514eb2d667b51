"""Delivers imported schedules as a file, a plan or jobs, with a complete report."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import typer

from horae.boot.commands.plan_lines import print_plan
from horae.boot.commands.plans import apply_plan, make_plan
from horae.boot.output import Exit, answer, err, out, wants_json
from horae.boot.refusals import run
from horae.boot.remote import Reply, remote
from horae.boot.schedule_files import ScheduleFile, yaml
from horae.service.imports.documents import comments, with_valid_names, words
from horae.service.imports.results import Found, ImportedJob, RefusedEntry
from horae_client.models import AppliedStep, Plan


class Wishes(NamedTuple):
    """The options of an import command."""

    origin: str
    owner: str
    output: Path | None
    url: str | None
    shadow: bool
    plan: bool
    apply: bool
    strict: bool


def deliver(given: Sequence[Found], wishes: Wishes) -> None:
    """Write, plan or apply imported schedules; report what will differ and what was refused."""
    found = with_valid_names(given)
    source = _source(found, wishes)
    report: dict[str, Any] = {"from": wishes.origin, "found": [_facts_of(one) for one in found]}
    if wishes.plan or wishes.apply:
        made, done = _make_plan(source, wishes)
        answer({**report, **made.facts, "applied": wishes.apply, "done": done}, lambda: print_plan(made.value))
    else:
        done = []
        text = yaml_of(source, found)
        if wishes.output:
            wishes.output.write_text(text, "utf-8")
        elif not wants_json():
            out.file.write(text)
        answer(report, lambda: None)
    _report(found, wishes)
    refused = [one for one in done if one.code is not None]
    for one in refused:
        err.print(f"{one.name}: {one.code} {one.message}", highlight=False)
    if refused or (wishes.strict and any(isinstance(one, RefusedEntry) for one in found)):
        raise typer.Exit(Exit.REFUSED)


def yaml_of(source: ScheduleFile, found: Sequence[Found]) -> str:
    """The YAML file, with a comment for each difference."""
    return "".join(_lines(source, found))


def _lines(source: ScheduleFile, found: Sequence[Found]) -> Iterator[str]:
    yield yaml.to_yaml({"owner": source.owner})
    for one in found:
        if isinstance(one, RefusedEntry):
            yield from (f"# {text}\n" for text in comments(one))
    yield "jobs:\n" if source.jobs else "jobs: {}\n"
    for one in found:
        if isinstance(one, ImportedJob):
            yield from (f"  # {text}\n" for text in comments(one))
            body = yaml.to_yaml({one.name: source.jobs[one.name]})
            yield "".join(f"  {line}" for line in body.splitlines(keepends=True))


def _source(found: Sequence[Found], wishes: Wishes) -> ScheduleFile:
    taken = (one for one in found if isinstance(one, ImportedJob))
    return ScheduleFile(wishes.owner, {one.name: words(one, url=wishes.url, shadow=wishes.shadow) for one in taken})


def _make_plan(source: ScheduleFile, wishes: Wishes) -> tuple[Reply[Plan], list[AppliedStep]]:
    async def work() -> tuple[Reply[Plan], list[AppliedStep]]:
        async with remote() as api:
            made = await make_plan(api, source)
            return made, await apply_plan(api, source, made.value) if wishes.apply else []

    return run(work)


def _facts_of(one: Found) -> dict[str, Any]:
    if isinstance(one, RefusedEntry):
        return {"name": one.name, "source": one.source, "refused": one.reason}
    differences = [{"kind": differs.kind, "text": differs.text} for differs in one.differences]
    return {"name": one.name, "source": one.source, "differences": differences}


def _report(found: Sequence[Found], wishes: Wishes) -> None:
    """Print the report on stderr, so that the file itself can be piped."""
    refused = [one for one in found if isinstance(one, RefusedEntry)]
    for one in refused:
        err.print(f"refused {one.name} ({one.source}): {one.reason}", highlight=False)
    differing = sum(bool(one.differences) for one in found if isinstance(one, ImportedJob))
    taken = len(found) - len(refused)
    where = f", written to {wishes.output}" if wishes.output else ""
    said = f"{taken} taken over, {differing} of them with differences, {len(refused)} refused{where}"
    err.print(said, highlight=False)
