"""What becomes of schedules that were found elsewhere: a file, a plan, or jobs; and a report that omits nothing."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import typer

from horae.boot.commands.plan_lines import facts, print_plan
from horae.boot.commands.plans import carried_out, planned
from horae.boot.session import caller, err, out, run
from horae.boot.sources import Source, yaml
from horae.boot.telling import Exit, answer, wants_json
from horae.service.imports.found import Found, Imported, Refused
from horae.service.imports.words import comments, renamed, words
from horae.service.plans import Done, Plan


class Wishes(NamedTuple):
    """What was asked for beside the schedules themselves."""

    origin: str
    owner: str
    output: Path | None
    url: str | None
    shadow: bool
    plan: bool
    apply: bool
    strict: bool


def deliver(given: Sequence[Found], wishes: Wishes) -> None:
    """Write, plan or apply what was found, and say what will differ and what could not be taken over."""
    found = renamed(given)
    source = _source(found, wishes)
    told: dict[str, Any] = {"from": wishes.origin, "found": [_told(one) for one in found]}
    if wishes.plan or wishes.apply:
        made, done = _planned(source, wishes)
        answer({**told, **facts(made), "applied": wishes.apply, "done": done}, lambda: print_plan(made))
    else:
        done = []
        text = written(source, found)
        if wishes.output:
            wishes.output.write_text(text, "utf-8")
        elif not wants_json():
            out.file.write(text)
        answer(told, lambda: None)
    _report(found, wishes)
    refused = [one for one in done if not one.ok]
    for one in refused:
        err.print(f"{one.name}: {one.code} {one.message}", highlight=False)
    if refused or (wishes.strict and any(isinstance(one, Refused) for one in found)):
        raise typer.Exit(Exit.REFUSED)


def written(source: Source, found: Sequence[Found]) -> str:
    """The file, with a comment for everything that will not be the same."""
    return "".join(_lines(source, found))


def _lines(source: Source, found: Sequence[Found]) -> Iterator[str]:
    yield yaml.written({"owner": source.owner})
    for one in found:
        if isinstance(one, Refused):
            yield from (f"# {text}\n" for text in comments(one))
    yield "jobs:\n" if source.jobs else "jobs: {}\n"
    for one in found:
        if isinstance(one, Imported):
            yield from (f"  # {text}\n" for text in comments(one))
            body = yaml.written({one.name: source.jobs[one.name]})
            yield "".join(f"  {line}" for line in body.splitlines(keepends=True))


def _source(found: Sequence[Found], wishes: Wishes) -> Source:
    taken = (one for one in found if isinstance(one, Imported))
    return Source(wishes.owner, {one.name: words(one, url=wishes.url, shadow=wishes.shadow) for one in taken})


def _planned(source: Source, wishes: Wishes) -> tuple[Plan, list[Done]]:
    async def work() -> tuple[Plan, list[Done]]:
        async with caller() as ctx:
            made = await planned(ctx, source)
            return made, await carried_out(ctx, made) if wishes.apply else []

    return run(work)


def _told(one: Found) -> dict[str, Any]:
    if isinstance(one, Refused):
        return {"name": one.name, "source": one.source, "refused": one.reason}
    differences = [{"kind": differs.kind, "text": differs.text} for differs in one.differences]
    return {"name": one.name, "source": one.source, "differences": differences}


def _report(found: Sequence[Found], wishes: Wishes) -> None:
    """On the side, so that the file itself may be piped on."""
    refused = [one for one in found if isinstance(one, Refused)]
    for one in refused:
        err.print(f"refused {one.name} ({one.source}): {one.reason}", highlight=False)
    differing = sum(bool(one.differences) for one in found if isinstance(one, Imported))
    taken = len(found) - len(refused)
    where = f", written to {wishes.output}" if wishes.output else ""
    said = f"{taken} taken over, {differing} of them with differences, {len(refused)} refused{where}"
    err.print(said, highlight=False)
