"""`horae restore …`: opens a cell that was restored from a backup. It opens PostgreSQL: no API serves a closed cell."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated

import typer

from horae.boot.output import answer
from horae.boot.reasons import Reason, ask_reason
from horae.boot.session import load, out, platform_caller
from horae.boot.verbs import Verbs
from horae.domain.errors import Conflict, Invalid
from horae.domain.restores.doubts import DoubtKind
from horae.service.context import PlatformContext
from horae.service.restores import plans, restores
from horae.service.restores.plans import RestorePlan
from horae.store.connections.admission import unchecked
from horae.store.restores.doubts import DoubtRow
from horae.upkeep.anchors import read

app = Verbs(no_args_is_help=True)
CellName = Annotated[str, typer.Argument(help="The restored cell, by its name in the settings.")]
Anchors = Annotated[Path | None, typer.Option("--anchors", help="The file of anchors; HORAE_AUDIT_ANCHORS if omitted.")]
Numbers = Annotated[list[int] | None, typer.Argument(help="Numbers of doubts, as `horae restore doubts` lists them.")]
Kind = Annotated[DoubtKind | None, typer.Option("--kind", help="All doubts of a kind instead of numbers.")]


@app.command("plan")
async def plan(cell: CellName, anchors: Anchors = None) -> None:
    """Show what opening a restored cell would do, and what is in doubt. Changes nothing."""
    async with _caller() as ctx:
        found = await _examine(ctx, cell, anchors)
    answer(_facts(found), lambda: out.print("\n".join(_lines(found)), highlight=False, soft_wrap=True))


@app.command("open")
async def open_cell(
    cell: CellName,
    reason: Reason = None,
    trust: Annotated[
        list[DoubtKind] | None, typer.Option(help="A kind that is not shut: you vouch that nothing of it was removed.")
    ] = None,
    same_server: Annotated[
        bool, typer.Option("--same-server", help="Open it although its server did not change: a disk was put back.")
    ] = False,
    anchors: Anchors = None,
) -> None:
    """Open a restored cell: sessions end, epochs jump, doubts stay shut. Restart every process afterwards."""
    why = ask_reason(reason)
    async with _caller() as ctx:
        found = await _examine(ctx, cell, anchors)
        if _is_todays(found) and not same_server:
            raise Conflict(
                f"{cell} runs on the server that it has recorded: say --same-server if its disk was put back"
            )
        opened = await restores.open_cell(ctx, found, why, trust or ())
    text = (
        f"{cell} is open with generation {opened.generation}; {opened.doubts} doubts stay shut; restart every process"
    )
    answer(opened._asdict(), lambda: out.print(text, highlight=False, soft_wrap=True))


@app.command("confirm")
async def confirm(cell: CellName, reason: Reason = None) -> None:
    """Confirm that a cell lost nothing although its server changed: a failover that nobody watched, or an upgrade."""
    why = ask_reason(reason)
    async with _caller() as ctx:
        found = await plans.plan(ctx, cell)
        await restores.confirm(ctx, found, why)
    text = f"{cell} goes on with generation {found.record.generation} on timeline {found.server.timeline}"
    answer({"cell": cell, "generation": found.record.generation}, lambda: out.print(text, highlight=False))


@app.command("doubts")
async def list_doubts(
    cell: CellName, decided: Annotated[bool, typer.Option("--decided", help="Also those that were decided.")] = False
) -> None:
    """List what a restore shut, with the evidence, until a person decides."""
    async with _caller() as ctx:
        found = await restores.list_doubts(ctx, cell, with_decided=decided)
    _show(found)


@app.command("allow")
async def allow(cell: CellName, numbers: Numbers = None, kind: Kind = None, reason: Reason = None) -> None:
    """Put back what a restore shut: it was not removed."""
    await _decide(cell, numbers, kind, reason, allowed=True)


@app.command("refuse")
async def refuse(cell: CellName, numbers: Numbers = None, kind: Kind = None, reason: Reason = None) -> None:
    """Leave what a restore shut as it is, for good. A tenant is removed."""
    await _decide(cell, numbers, kind, reason, allowed=False)


async def _decide(
    cell: str, numbers: list[int] | None, kind: DoubtKind | None, reason: str | None, *, allowed: bool
) -> None:
    if bool(numbers) is (kind is not None):
        raise Invalid("say either the numbers of doubts, or --kind")
    why = ask_reason(reason)
    async with _caller() as ctx:
        chosen = numbers or [one.number for one in await restores.list_doubts(ctx, cell) if one.kind == kind]
        done = await restores.decide(ctx, cell, chosen, why, allow=allowed)
    _show(done)


@asynccontextmanager
async def _caller() -> AsyncIterator[PlatformContext]:
    """The owner of the tables, who reaches closed cells, too."""
    with unchecked():
        async with platform_caller() as ctx:
            yield ctx


async def _examine(ctx: PlatformContext, cell: str, anchors: Path | None) -> RestorePlan:
    file = anchors or load().audit_anchors
    return await plans.plan(ctx, cell, [] if file is None else read(file))


def _is_todays(found: RestorePlan) -> bool:
    recorded = (found.record.cluster_id, found.record.timeline)
    return recorded == (found.server.cluster_id, found.server.timeline) and found.record.closed_reason is None


def _facts(found: RestorePlan) -> dict[str, object]:
    return {
        "cell": found.cell,
        "closed": not _is_todays(found),
        "generation": found.record.generation,
        "next_generation": found.next_generation,
        "timeline": found.server.timeline,
        "recorded_timeline": found.record.timeline,
        "shards_left": found.shards.left,
        "shards_lost": found.shards.lost,
        "newer_elsewhere": {table: len(rows) for table, rows in found.newer.items()},
        "lost_audit_blocks": None if found.lost_blocks is None else found.lost_blocks._asdict(),
        "doubts": [
            {"kind": one.kind, "tenant": str(one.tenant_id), "name": one.name, "evidence": one.evidence}
            for one in found.doubts
        ],
    }


def _lines(found: RestorePlan) -> list[str]:
    state = "runs on the server that it has recorded" if _is_todays(found) else "is closed until it is opened"
    lines = [
        f"{found.cell} {state}: timeline {found.server.timeline}, recorded is {found.record.timeline}",
        f"opening makes generation {found.next_generation} of {found.record.generation}; every session ends",
    ]
    if found.shards.left:
        lines.append(f"{len(found.shards.left)} shards are held by other cells by now, and are left to them")
    if found.shards.lost:
        lines.append(f"{len(found.shards.lost)} shards are held by no cell: restore to a later time")
    lines += [f"{len(rows)} rows of {table} are taken over from other cells" for table, rows in found.newer.items()]
    if found.lost_blocks is not None:
        lost = found.lost_blocks
        lines.append(f"the audit chain ends with block {lost.here}; block {lost.known} was anchored: changes are lost")
    if found.server.recovery_target:
        lines.append(f"a recovery target is still set ({found.server.recovery_target}): reset it after the opening")
    lines += [f"{many} in doubt: {kind}" for kind, many in sorted(Counter(one.kind for one in found.doubts).items())]
    lines += [f"  {one.kind} {one.name} of tenant {one.tenant_id}: {one.evidence}" for one in found.doubts]
    return lines


def _show(found: list[DoubtRow]) -> None:
    facts = [
        {
            "number": one.number,
            "generation": one.generation,
            "kind": one.kind,
            "tenant": str(one.tenant_id),
            "name": one.name,
            "evidence": one.evidence,
            "decision": one.decision,
        }
        for one in found
    ]
    lines = [f"{one.number}: {one.kind} {one.name} of tenant {one.tenant_id}: {one.evidence}" for one in found]
    answer(facts, lambda: out.print("\n".join(lines or ["nothing"]), highlight=False, soft_wrap=True))
