"""`horae audit …`: `list` goes over HTTP; `fires`, `verify` and `anchor` open PostgreSQL and trust no API."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from horae.boot.archive import archive_target_of
from horae.boot.following import Follow, print_new
from horae.boot.output import Exit, answer, name_cells_down, say, to_json, wants_json
from horae.boot.remote import remote
from horae.boot.session import err, load, out, system_user
from horae.boot.tables import answer_rows, print_rows
from horae.boot.times import MOMENT, moment
from horae.boot.verbs import Verbs
from horae.domain.audit.anchors import Anchor
from horae.domain.errors import Invalid
from horae.domain.fire_audit.findings import FireFinding
from horae.runtime.settings import Settings
from horae.service.audit import fire_repairs, verification
from horae.service.audit.fire_repairs import FireRepair
from horae.service.audit.fires import AuditRange, audit_fires, sum_up
from horae.service.audit.verification import ChainExpectation, ChainVerdict
from horae.service.tenants import tenants
from horae.store.cells import Cell
from horae.store.store import Store
from horae.upkeep.anchors import append_heads, read
from horae_client.asked import audit as asked
from horae_client.models import AuditEntry

app = Verbs(no_args_is_help=True)
REPAIR_COLUMNS: Final = ("at (UTC)", "fires", "job", "repair")
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


@app.command()
async def fires(
    since: Annotated[
        datetime | None, typer.Option(help="From when, with an offset; a day ago where omitted.", formats=[MOMENT])
    ] = None,
    until: Annotated[datetime | None, typer.Option(help="Until when, with an offset.", formats=[MOMENT])] = None,
    tenant: Annotated[str | None, typer.Option(help="Only of this tenant.")] = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Backfill missing fires, and plan cursors again that stand still.")
    ] = False,
) -> None:
    """Compute which fires should exist, and compare them with the rows. Exits with 1 if something is wrong.

    With --repair it exits with 1 if something is wrong that could not be repaired.
    """
    settings = load()
    target = archive_target_of(settings)
    async with _owning(settings) as store:
        now = store.clock.now()
        tenant_id = None if tenant is None else (await tenants.find(store, tenant)).id
        wanted = AuditRange(since or now - timedelta(days=1), until or now, tenant_id)
        found = [one async for one in audit_fires(store.cells, wanted, target)]
        findings = [finding for one in found for finding in one.verdict.findings]
        repairs = await fire_repairs.repair(store, findings, system_user()) if repair else []
    counts = sum_up(one.verdict.counts for one in found)
    facts = {"jobs": len(found), "expected": counts.expected, **counts._asdict(), "findings": findings}
    facts |= {"repairs": [one._asdict() for one in repairs]} if repair else {}
    columns, rows = ("at (UTC)", "finding", "fires", "job", "what"), [*map(_finding_row, findings)]
    title = f"{len(found)} jobs, {counts.expected} fires expected, {len(findings)} findings"
    answer_rows(facts, columns, rows, empty="each has one verdict", least=("fires",), wraps=("what",), title=title)
    if repairs and not wants_json():
        print_rows(REPAIR_COLUMNS, [*map(_repair_row, repairs)], empty="", least=("fires",), wraps=("repair",))
    if fire_repairs.unrepaired(findings, repairs):
        raise typer.Exit(Exit.REFUSED)


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


def _finding_row(one: FireFinding) -> tuple[object, ...]:
    return (moment(one.at), one.fault, one.fires, one.job, one.said)


def _repair_row(one: FireRepair) -> tuple[object, ...]:
    return (moment(one.at), one.fires, one.job, one.done or f"not repaired: {one.refused}")


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
