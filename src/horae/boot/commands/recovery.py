"""`horae recover …`: start recovery from an incident, see how far it is, stop it. It opens PostgreSQL."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final

import msgspec
import typer

from horae.boot.output import answer, name_cells_down, out
from horae.boot.reasons import Reason, ask_reason
from horae.boot.session import platform_caller
from horae.boot.tables import answer_rows
from horae.boot.times import moment
from horae.boot.verbs import Verbs
from horae.domain.errors import Conflict, NotFound, Unavailable
from horae.domain.ids import Prefix, private, public
from horae.domain.incidents.incidents import Incident, IncidentEntry, IncidentGrade, RecoverySummary
from horae.runtime.clock import boottime
from horae.service.context import PlatformContext
from horae.service.incidents import incidents
from horae.service.incidents.incidents import IncidentDetail
from horae.store.tx import UNREACHABLE

app = Verbs(no_args_is_help=True)
Named = Annotated[str | None, typer.Argument(help="The id of the incident; by default the newest.")]
NOT_YET: Final[tuple[type[Exception], ...]] = (Unavailable, *UNREACHABLE)
TRY_INTERVAL_S: Final = 1.0
"""Seconds between two tries while no cell answers."""


@app.command("start")
async def start(
    grade: Annotated[IncidentGrade, typer.Option(help="P1: not available. P2: late, or retries pile up.")],
    reason: Reason = None,
    minutes_ago: Annotated[float, typer.Option(help="How many minutes ago the trouble began.")] = 0.0,
    wait: Annotated[int, typer.Option(help="For how many seconds to try while no cell answers.")] = 600,
) -> None:
    """Start recovery. It freezes low priority, resumes critical work first, replays, audits, and lifts the freeze.

    While no cell answers, it tries again: it can be started at once when a primary is lost.
    """
    why, until = ask_reason(reason), boottime() + wait
    fault_at = datetime.now(UTC) - timedelta(minutes=minutes_ago)
    is_first = True
    while True:
        try:
            async with platform_caller() as ctx:
                started = await _start(ctx, grade, why, fault_at, is_first=is_first)
            break
        except NOT_YET:
            if boottime() >= until:
                raise
            is_first = False
            await asyncio.sleep(TRY_INTERVAL_S)
    name = public(Prefix.INCIDENT, started.id)
    answer(_facts(started), lambda: out.print(f"{name} is open; see `horae recover status`", highlight=False))


@app.command("status")
async def status(incident: Named = None) -> None:
    """Show an incident: what is done, what it waits for, and what it adds up to."""
    async with platform_caller() as ctx:
        found = await _find(ctx, incident)
        name_cells_down(ctx.cells_down)
    facts = {**_facts(found.incident), "timeline": _timeline(found.timeline), "summary": found.summary._asdict()}
    rows = [
        (moment(one["at"]), one["step"], one["cell"], one["parts"] or "", msgspec.json.encode(one["facts"]).decode())
        for one in facts["timeline"]
    ]
    columns = ("at (UTC)", "step", "cell", "parts", "figures")
    answer_rows(facts, columns, rows, empty="nothing was done yet", wraps=("figures",), title=_title(found))


@app.command("list")
async def list_() -> None:
    """List the last incidents, the newest first."""
    async with platform_caller() as ctx:
        found = await incidents.listing(ctx)
        name_cells_down(ctx.cells_down)
    columns = ("id", "grade", "started (UTC)", "step", "ended (UTC)", "result", "reason")
    rows = [
        (
            public(Prefix.INCIDENT, one.id),
            one.grade,
            moment(one.started_at),
            one.step,
            moment(one.ended_at),
            one.result or "",
            one.reason,
        )
        for one in found
    ]
    answer_rows([_facts(one) for one in found], columns, rows, empty="there was no incident", wraps=("reason",))


@app.command("stop")
async def stop(incident: Named = None, reason: Reason = None) -> None:
    """Stop recovery: what it set is lifted, and nothing else is done."""
    why = ask_reason(reason)
    async with platform_caller() as ctx:
        found = await _find(ctx, incident)
        asked = await incidents.stop(ctx, found.incident.id, why)
    name = public(Prefix.INCIDENT, asked.id)
    answer(_facts(asked), lambda: out.print(f"{name} lifts what it set, and ends", highlight=False))


async def _start(
    ctx: PlatformContext, grade: IncidentGrade, reason: str, fault_at: datetime, *, is_first: bool
) -> Incident:
    """Start an incident. After a try without an answer, one that is open may be the one of that try."""
    try:
        return await incidents.start(ctx, grade, reason, min(fault_at, ctx.store.clock.now()))
    except Conflict:
        newest = (await incidents.listing(ctx))[0]
        if is_first or newest.reason != reason or newest.ended_at is not None:
            raise
        return newest


async def _find(ctx: PlatformContext, named: str | None) -> IncidentDetail:
    if named is not None:
        return await incidents.show(ctx, private(Prefix.INCIDENT, named))
    found = await incidents.listing(ctx)
    if not found:
        raise NotFound("there was no incident")
    return await incidents.detail(ctx, found[0])


def _facts(one: Incident) -> dict[str, Any]:
    return {**one._asdict(), "id": public(Prefix.INCIDENT, one.id), "deadline": one.deadline}


def _timeline(entries: Sequence[IncidentEntry]) -> list[dict[str, Any]]:
    """The timeline with the parts of each step in a cell in one line: numbers are added up."""
    lines: dict[tuple[str, str, bool], dict[str, Any]] = {}
    for entry in entries:
        key = (entry.step, entry.cell, bool(entry.part))
        line = lines.setdefault(key, {"at": entry.at, "step": entry.step, "cell": entry.cell, "parts": 0, "facts": {}})
        line["at"], line["parts"] = entry.at, line["parts"] + bool(entry.part)
        for name, value in entry.facts.items():
            if entry.part and isinstance(value, int):
                line["facts"][name] = line["facts"].get(name, 0) + value
            elif not entry.part:
                line["facts"][name] = value
    return list(lines.values())


def _title(found: IncidentDetail) -> str:
    one = found.incident
    state = f"{one.step}, {one.error}" if one.error else one.result or one.step
    return f"{public(Prefix.INCIDENT, one.id)} ({one.grade}): {state}; {_sum(found.summary)}"


def _sum(summary: RecoverySummary) -> str:
    rto = "not reached" if summary.rto_s is None else f"{summary.rto_s:.1f} s"
    rpo = "not known" if summary.rpo_s is None else f"{summary.rpo_s:g} s"
    return f"RTO {rto}, RPO {rpo}, {summary.dead_letters_requeued} dead letters replayed"
