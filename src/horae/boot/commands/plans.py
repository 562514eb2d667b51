"""`horae plan` and `horae apply`: schedules as code."""

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from horae.boot.commands.plan_lines import changes_in, print_plan
from horae.boot.output import Exit, answer, err, out, wants_json
from horae.boot.remote import Remote, Reply, remote
from horae.boot.schedule_files import ScheduleFile, modules, source_of, yaml
from horae.domain.errors import Invalid
from horae_client.asked import plans as asked
from horae_client.models import AppliedStep, Plan

File = Annotated[
    Path | None, typer.Option("--file", "-f", help="A jobs.yaml.", exists=True, dir_okay=False, allow_dash=True)
]
Module = Annotated[str | None, typer.Option("--module", "-m", help="A Python module, such as myapp.schedules.")]
Owner = Annotated[str | None, typer.Option(help="The owner of these jobs; if omitted, the owner in the file.")]
Pruning = Annotated[bool, typer.Option("--prune", help="Remove this owner's jobs that are no longer declared.")]
Insisting = Annotated[bool, typer.Option("--force", help="Overwrite what others changed, adopt what they made.")]


async def plan(
    file: File = None,
    module: Module = None,
    owner: Owner = None,
    prune: Pruning = False,
    force: Insisting = False,
    check: Annotated[bool, typer.Option("--check", help="End with status 6 where there is something to do.")] = False,
) -> None:
    """Show what applying a source of schedules would change, field by field. Nothing is written."""
    source = read(file, module, owner)
    async with remote() as api:
        made = await make_plan(api, source, prune=prune, force=force)
    answer(made.facts, lambda: print_plan(made.value))
    _end(made.value, check=check)


async def apply(
    file: File = None,
    module: Module = None,
    owner: Owner = None,
    prune: Pruning = False,
    force: Insisting = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only plan.")] = False,
) -> None:
    """Change the jobs to what a source of schedules says. Conflicts are printed and not changed, unless `--force`."""
    source = read(file, module, owner)
    async with remote() as api:
        made = await make_plan(api, source, prune=prune, force=force)
        done = [] if dry_run else await apply_plan(api, source, made.value, prune=prune, force=force)
    refused = [one for one in done if one.code is not None]
    answer({**made.facts, "applied": not dry_run, "done": done}, lambda: print_plan(made.value))
    for one in refused:
        err.print(f"{one.name}: {one.code} {one.message}", highlight=False)
    if not dry_run and not wants_json():
        out.print(f"applied: {len(done) - len(refused)} done, {len(refused)} refused", highlight=False)
    if refused:
        raise typer.Exit(Exit.REFUSED)
    _end(made.value)


def read(file: Path | None, module: str | None, owner: str | None) -> ScheduleFile:
    """The one source that was named."""
    if (file is None) == (module is None):
        raise Invalid("name one source: --file jobs.yaml or --module myapp.schedules")
    if file is not None:
        text = typer.get_text_stream("stdin").read() if str(file) == "-" else file.read_text("utf-8")
        return source_of(yaml.read(text, str(file)), owner, str(file))
    return modules.read(module or "", owner)


async def make_plan(api: Remote, source: ScheduleFile, *, prune: bool = False, force: bool = False) -> Reply[Plan]:
    """The plan of a source for the tenant of the key."""
    return await api.ask(asked.make(source.owner, source.jobs, prune, force))


async def apply_plan(
    api: Remote, source: ScheduleFile, made: Plan, *, prune: bool = False, force: bool = False
) -> list[AppliedStep]:
    """Run every step of a plan that changes something, in parts, with a progress bar on a terminal."""
    done: list[AppliedStep] = []
    if not changes_in(made):
        return done
    with Progress(console=err, transient=True, disable=wants_json() or not err.is_terminal) as bar:
        task = bar.add_task("applying", total=changes_in(made))
        after: str | None = ""
        while after is not None:
            part = (await api.ask(asked.apply(source.owner, source.jobs, prune, force, after))).value
            done += part.done
            after = part.next
            bar.update(task, completed=len(done))
    return done


def _end(made: Plan, *, check: bool = False) -> None:
    if made.counts.get("refused"):
        raise typer.Exit(Exit.REFUSED)
    if made.counts.get("conflict"):
        raise typer.Exit(Exit.CONFLICT)
    if check and changes_in(made):
        raise typer.Exit(Exit.CHANGES)
