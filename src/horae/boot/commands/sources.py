"""`horae source …`: where a business lists its pending tasks, and what was repaired with such a list."""

import sys
from pathlib import Path
from typing import Annotated, Final

import typer
from pydantic import ValidationError
from rich.table import Table

from horae.api.models.sources import PutSource, RepairView, SourceRoundView, SourceView
from horae.boot.output import answer, say
from horae.boot.session import all_pages, caller, out
from horae.boot.verbs import Verbs
from horae.domain.errors import Invalid
from horae.service.sources import sources

app = Verbs(no_args_is_help=True)
Type = Annotated[str, typer.Argument(metavar="TYPE", help="The type whose tasks the source lists.")]
File = Annotated[Path | None, typer.Option("--file", help="JSON as the API takes it; read from a pipe where omitted.")]
MOST: Final = 50


@app.command()
async def put(type_name: Type, file: File = None) -> None:
    """Set the source of a type, which lists its tasks. It replaces an older source."""
    text = sys.stdin.read() if file is None else file.read_text()
    try:
        asked = PutSource.model_validate_json(text)
    except ValidationError as error:
        raise Invalid(f"this is no source: {error}") from error
    async with caller() as ctx:
        kept = await sources.put(ctx, type_name, asked.spec())
        say(SourceView.alone(kept), f"source of {kept.name}, revision {kept.revision}; a round begins")


@app.command("list")
async def listing() -> None:
    """List the sources of the tenant, with the drift of their last rounds."""
    async with caller() as ctx:
        found = await all_pages(lambda last: sources.page(ctx, last.source.name if last else "", MOST))
    table = Table("type", "kind", "round", "drift", "running", "next (UTC)", "error")
    for one in (SourceView.of(detail) for detail in found):
        last = one.last
        table.add_row(
            one.type,
            one.spec["origin"]["kind"],
            str(last.number) if last else "",
            str(one.drift),
            "paused" if one.paused_at else "yes" if one.running else "",
            f"{one.next_at:%Y-%m-%d %H:%M:%S}" if one.next_at else "",
            (last.error if last else None) or "",
        )
    answer([SourceView.of(one) for one in found], lambda: out.print(table))


@app.command()
async def show(type_name: Type) -> None:
    """Show one source: its definition, and how its last round went."""
    async with caller() as ctx:
        view = SourceView.of(await sources.find(ctx, type_name))
        answer(view, lambda: out.print_json(view.model_dump_json()))


@app.command("run")
async def ask(
    type_name: Type, dry: Annotated[bool, typer.Option("--dry", help="Find differences and change nothing.")] = False
) -> None:
    """Request a round now; a node begins it within seconds."""
    async with caller() as ctx:
        asked = await sources.request_round(ctx, type_name, dry=dry)
        say(SourceView.alone(asked), f"round {asked.round + 1} of {asked.name} was asked for")


@app.command()
async def pause(type_name: Type) -> None:
    """Pause a source: it repairs nothing, and a round under way stops. Dry rounds still compare."""
    async with caller() as ctx:
        paused = await sources.pause(ctx, type_name)
        say(SourceView.alone(paused), f"the source of {paused.name} is paused")


@app.command()
async def resume(type_name: Type) -> None:
    """Resume a source with a round from the first key on."""
    async with caller() as ctx:
        resumed = await sources.resume(ctx, type_name)
        say(SourceView.alone(resumed), f"the source of {resumed.name} goes on")


@app.command()
async def rounds(type_name: Type, limit: int = MOST) -> None:
    """List a source's rounds, newest first."""
    async with caller() as ctx:
        found = [SourceRoundView.of(one) for one in await sources.rounds(ctx, type_name, limit=limit)]
    table = Table("round", "began (UTC)", "status", "dry", "rows", "drift", "created", "moved", "cancelled", "error")
    for one in found:
        counted = [str(one.counts[name]) for name in ("created", "moved", "cancelled")]
        facts = [str(one.number), f"{one.began_at:%Y-%m-%d %H:%M:%S}", one.status, "yes" if one.dry else ""]
        table.add_row(*facts, str(one.counts["rows"]), str(one.drift), *counted, one.error or "")
    answer(found, lambda: out.print(table))


@app.command()
async def repairs(
    type_name: Type,
    number: Annotated[int | None, typer.Option("--round", help="Only of this round.")] = None,
    limit: int = MOST,
) -> None:
    """List what rounds found and did, newest first; for a dry round, what it would have done."""
    async with caller() as ctx:
        page = await sources.list_repairs(ctx, type_name, number=number, limit=limit)
    found = [RepairView.of(one) for one in page]
    table = Table("at (UTC)", "round", "key", "found", "ours", "theirs", "decision")
    for one in found:
        times = [f"{at:%Y-%m-%d %H:%M:%S}" if at else "" for at in (one.ours, one.theirs)]
        table.add_row(
            f"{one.at:%Y-%m-%d %H:%M:%S}", str(one.round), one.key, one.found, *times, one.decision or "(dry)"
        )
    answer(found, lambda: out.print(table))


@app.command()
async def remove(type_name: Type) -> None:
    """Remove a source: its tasks are no longer compared and stay as they are."""
    async with caller() as ctx:
        gone = await sources.remove(ctx, type_name)
        say(SourceView.alone(gone), f"the source of {gone.name} is gone")
