"""`horae audit …`: `list` goes over HTTP; `verify` and `anchor` open PostgreSQL and trust no API."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from horae.boot.following import Follow, print_new
from horae.boot.output import Exit, answer, name_cells_down, say, to_json, wants_json
from horae.boot.remote import remote
from horae.boot.session import err, load, out
from horae.boot.tables import answer_rows
from horae.boot.times import MOMENT, moment
from horae.boot.verbs import Verbs
from horae.domain.audit.anchors import Anchor
from horae.domain.errors import Invalid
from horae.runtime.settings import Settings
from horae.service.audit import verification
from horae.service.audit.verification import ChainExpectation, ChainVerdict
from horae.store.cells import Cell
from horae.store.store import Store
from horae.upkeep.anchors import append_heads, read
from horae_client.asked import audit as asked
from horae_client.models import AuditEntry

app = Verbs(no_args_is_help=True)
File = Annotated[Path | None, typer.Option("--anchors", help="The file of anchors; HORAE_AUDIT_ANCHORS where omitted.")]


@app.command()
async def verify(
    anchors: File = None,
    cell: Annotated[str | None, typer.Option(help="One cell; all of them where it is left out.")] = None,
) -> None:
    """Verify the hash chain of the audit log: every block and every row. Exits with 1 and names the first bad block."""
    settings = load()
    known = _known(settings, anchors)
    async with _owning(settings) as store:
        meant = [one for one in store.cells if cell in (None, one.name)]
        if not meant:
            raise Invalid(f"there is no cell {cell!r}")
        with _bar(quiet=wants_json()) as bar:
            found = [await _verify(bar, one, settings, known) for one in meant]
    facts = {"ok": all(one.fault is None for one in found), "cells": [*map(_facts_of, found)]}
    answer(facts, lambda: _say_all(found))
    if any(one.fault is not None for one in found):
        raise typer.Exit(Exit.REFUSED)


@app.command()
async def anchor(anchors: File = None) -> None:
    """Record the heads of all chains now: append them to the file of anchors, or print them if there is none."""
    settings = load()
    async with Store.of(settings.all_cells()) as store:
        found = await verification.anchors(store.cells)
        name_cells_down([cell.name for cell in store.cells if cell.reach.is_down])
    file = anchors or settings.audit_anchors
    if file is not None:
        append_heads(file, found)
        say(found, f"{len(found)} heads noted in {file}")
        return
    say(found, "\n".join(msgspec.json.encode(one).decode() for one in found))


@app.command("list")
async def list_(
    since: Annotated[datetime | None, typer.Option(help="From when, with an offset.", formats=[MOMENT])] = None,
    until: Annotated[datetime | None, typer.Option(help="Until when, with an offset.", formats=[MOMENT])] = None,
    actor: Annotated[str | None, typer.Option(help="Only of this principal.")] = None,
    action: Annotated[str | None, typer.Option(help="Only this action, such as job.paused.")] = None,
    resource: Annotated[str | None, typer.Option(help="Only about this resource, by its id.")] = None,
    limit: int = 50,
    follow: Follow = False,
) -> None:
    """List the audit log of the tenant, newest first: who did what, and when."""
    request = asked.entries(since, until, actor, action, resource)
    async with remote() as api:
        if follow:
            await print_new(api, request, to_json, _row)
        found = await api.items(request, limit)
    columns = ("at (UTC)", "actor", "action", "resource", "detail")
    rows = [_row(one) for one in found.value]
    answer_rows(found.facts, columns, rows, empty="no entry matches", least=("detail", "resource"), wraps=("detail",))


def _row(one: AuditEntry) -> tuple[object, ...]:
    return (moment(one.at), one.actor, one.action, one.resource, to_json(one.detail) if one.detail else None)


@asynccontextmanager
async def _owning(settings: Settings) -> AsyncIterator[Store]:
    """The cells as the owner of the tables, the only role that reads the audit rows of all tenants."""
    async with Store.of(settings.all_cells()) as store, store.as_owner() as owner:
        yield owner


async def _verify(bar: Progress, cell: Cell, settings: Settings, known: list[Anchor]) -> ChainVerdict:
    task = bar.add_task(cell.name, total=None)
    oldest = cell.clock.now() - timedelta(days=settings.audit_days)
    return await verification.verify(
        cell, ChainExpectation(known, oldest), lambda done, total: bar.update(task, completed=done, total=total)
    )


def _known(settings: Settings, file: Path | None) -> list[Anchor]:
    meant = file or settings.audit_anchors
    if file is not None and not file.exists():
        raise Invalid(f"there is no file {file}")
    return [] if meant is None else read(meant)


def _bar(*, quiet: bool) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=err, disable=quiet or not err.is_terminal, transient=True)


def _facts_of(verdict: ChainVerdict) -> dict[str, Any]:
    fault = verdict.fault
    return {
        "cell": verdict.cell,
        "blocks": verdict.blocks,
        "rows": verdict.entries,
        "anchors": verdict.anchors,
        "dropped_blocks": verdict.dropped,
        "head": {"number": verdict.head.number, "hash": verdict.head.hash.hex()},
        "unchained_rows": verdict.unchained.entries,
        "unchained_since": verdict.unchained.since,
        "fault": None if fault is None else {"block": fault.number, "what": fault.what},
    }


def _say_all(found: list[ChainVerdict]) -> None:
    for one in found:
        _say(one)


def _say(verdict: ChainVerdict) -> None:
    if verdict.fault is not None:
        out.print("✗", style="red", end=" ")
        out.print(f"{verdict.cell}: block {verdict.fault.number}: {verdict.fault.what}", highlight=False)
        return
    said = f"{verdict.blocks} blocks with {verdict.entries} rows are unchanged"
    said += f", {verdict.anchors} anchors agree" if verdict.anchors else "; no anchor was compared"
    said += f"; {verdict.unchained.entries} rows are not in a block yet" if verdict.unchained.entries else ""
    out.print("✓", style="green", end=" ")
    out.print(f"{verdict.cell}: {said}", highlight=False, soft_wrap=True)
