"""`horae plan` and `horae apply`: schedules as code."""

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from horae.boot.commands.plan_lines import facts, print_plan
from horae.boot.output import Exit, answer, wants_json
from horae.boot.schedule_files import ScheduleFile, modules, source_of, yaml
from horae.boot.session import caller, err, out
from horae.domain.errors import Invalid
from horae.service import plans
from horae.service.context import Context
from horae.service.plans import AppliedStep, SourcePlan

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
    async with caller() as ctx:
        made = await make_plan(ctx, read(file, module, owner), prune=prune, force=force)
    answer(facts(made), lambda: print_plan(made))
    _end(made, check=check)


async def apply(
    file: File = None,
    module: Module = None,
    owner: Owner = None,
    prune: Pruning = False,
    force: Insisting = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only plan.")] = False,
) -> None:
    """Change the jobs to what a source of schedules says. Conflicts are printed and not changed, unless `--force`."""
    async with caller() as ctx:
        made = await make_plan(ctx, read(file, module, owner), prune=prune, force=force)
        done = [] if dry_run else await apply_plan(ctx, made)
    refused = [one for one in done if not one.ok]
    answer({**facts(made), "applied": not dry_run, "done": done}, lambda: print_plan(made))
    for one in refused:
        err.print(f"{one.name}: {one.code} {one.message}", highlight=False)
    if not dry_run and not wants_json():
        out.print(f"applied: {len(done) - len(refused)} done, {len(refused)} refused", highlight=False)
    if refused:
        raise typer.Exit(Exit.REFUSED)
    _end(made)


def read(file: Path | None, module: str | None, owner: str | None) -> ScheduleFile:
    """The one source that was named."""
    if (file is None) == (module is None):
        raise Invalid("name one source: --file jobs.yaml or --module myapp.schedules")
    if file is not None:
        text = typer.get_text_stream("stdin").read() if str(file) == "-" else file.read_text("utf-8")
        return source_of(yaml.read(text, str(file)), owner, str(file))
    return modules.read(module or "", owner)


async def make_plan(ctx: Context, source: ScheduleFile, *, prune: bool = False, force: bool = False) -> SourcePlan:
    """The plan of a source for the caller's tenant."""
    declared = source.parse(ctx.tenant, ctx.store.clock.now())
    return await plans.plan(ctx, source.owner, declared, prune=prune, force=force)


async def apply_plan(ctx: Context, made: SourcePlan) -> list[AppliedStep]:
    """Run every step of a plan, with a progress bar on a terminal."""
    with Progress(console=err, transient=True, disable=wants_json() or not err.is_terminal) as bar:
        task = bar.add_task("applying", total=made.changes)
        return await plans.apply(ctx, made, lambda _done: bar.advance(task))


def _end(made: SourcePlan, *, check: bool = False) -> None:
    if made.refused:
        raise typer.Exit(Exit.REFUSED)
    if made.conflicts:
        raise typer.Exit(Exit.CONFLICT)
    if check and made.changes:
        raise typer.Exit(Exit.CHANGES)
