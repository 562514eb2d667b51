"""`horae migrate` and `horae cell …`."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated, Final

import typer

from horae.boot.output import answer
from horae.boot.owner_cells import owner_cells
from horae.boot.preparing import prepare
from horae.boot.reasons import Reason, ask_reason
from horae.boot.session import load, out, platform_caller
from horae.boot.transports import check_dsns
from horae.boot.verbs import Verbs
from horae.domain.errors import Conflict
from horae.runtime.settings import CellSettings
from horae.service.databases import clock
from horae.service.databases.cell_removal import find_obstacles
from horae.store import migrations
from horae.store.migrations import CellPlan, Migration
from horae.store.protocol import CellProtocol

app = Verbs(no_args_is_help=True)
NEXT_STEPS: Final = """{name} is at this release and holds no shard yet.
1. Add it to HORAE_CELLS of every process, with the role of that process.
2. Restart the processes one after another.
3. horae shard rebalance
4. horae shard status"""


async def migrate(
    plan: Annotated[bool, typer.Option("--plan", help="Show what would be applied, and change nothing.")] = False,
) -> None:
    """Bring every cell up to this release; create the configured tenant on the first run.

    Every cell is checked first. Where something is missing, nothing is changed.
    """
    settings = load()
    if plan:
        found = await migrations.plan(owner_cells(settings.all_cells()), settings.environment)
        lines = [line for one in found for line in _plan_lines(one)]
        answer(_plan_facts(found), lambda: out.print("\n".join(lines), highlight=False, soft_wrap=True))
        return
    done = await prepare(settings)
    answer({"done": done}, lambda: out.print("\n".join(done or ["nothing to do"]), highlight=False))


def _plan_lines(plan: CellPlan) -> list[str]:
    """One line for each file, with the way in which it runs."""
    lines = [f"{plan.cell}: {one.name}: {_way(plan, one)}" for one in plan.pending]
    if plan.newer:
        lines.append(f"{plan.cell}: a newer release has applied {', '.join(plan.newer)}")
    return lines or [f"{plan.cell}: nothing to do"]


def _way(plan: CellPlan, migration: Migration) -> str:
    if plan.is_empty:
        return "in one transaction with all others, on an empty database"
    if migration.statements is None:
        return "in a transaction; it waits at most 200 ms for a lock, then lets others pass and tries again"
    return f"outside of a transaction, {len(migration.statements)} statements; no reader or writer waits for an index"


def _plan_facts(plans: Sequence[CellPlan]) -> list[dict[str, object]]:
    return [
        {
            "cell": plan.cell,
            "empty": plan.is_empty,
            "newer": list(plan.newer),
            "pending": [
                {"name": one.name, "in_transaction": plan.is_empty or one.statements is None} for one in plan.pending
            ],
        }
        for plan in plans
    ]


@app.command("move-clock")
async def move_clock(
    seconds: Annotated[float, typer.Argument(help="How far; negative moves back.")], reason: Reason = None
) -> None:
    """Move the clock of every cell, to try things out. Refused in production."""
    why = ask_reason(reason)
    async with platform_caller() as ctx:
        _show(await clock.move(ctx, timedelta(seconds=seconds), why), "")


@app.command("trust-clock")
async def trust_clock(
    name: Annotated[str | None, typer.Argument(help="One cell; all of them where it is left out.")] = None,
    reason: Reason = None,
) -> None:
    """Confirm that a database's clock is right after it jumped: nodes that stopped continue within a heartbeat."""
    why = ask_reason(reason)
    async with platform_caller() as ctx:
        _show(await clock.trust(ctx, name, why), " is trusted")


@app.command("add")
async def add(
    name: Annotated[str, typer.Argument(help="The name of the new cell.")],
    dsn: Annotated[str, typer.Option(help="The address of its empty database, as the owner of the tables.")],
) -> None:
    """Prepare an empty PostgreSQL as a new cell. It gets its shards by `horae shard rebalance`.

    The cells of the settings must answer: they are brought up to the same release.
    """
    settings = load()
    known = owner_cells(settings.all_cells())
    if name in {cell.name for cell in known}:
        raise Conflict(f"{name} is in the settings already: run `horae migrate`")
    new = CellSettings(name=name, dsn=dsn)
    check_dsns(settings, [new])
    [found] = await migrations.plan([new], settings.environment)
    if not found.is_empty:
        raise Conflict(f"the database of {name} is not empty: a new cell needs one of its own")
    done = await migrations.migrate([*known, new], settings.environment)
    answer({"cell": name, "done": done}, lambda: out.print(NEXT_STEPS.format(name=name), highlight=False))


@app.command("remove")
async def remove(name: Annotated[str, typer.Argument(help="The cell to remove.")]) -> None:
    """Check that nothing is in a cell alone, so that it may leave the settings. Changes nothing.

    Refused while it holds shards, while shards move, and while a day of its history is neither archived nor expired.
    """
    async with platform_caller() as ctx:
        wrong = await find_obstacles(ctx, name)
    if wrong:
        raise Conflict(f"{name} may not be removed: {'; '.join(wrong)}")
    text = f"{name} may be removed: take it out of the settings of every process, and restart them one after another"
    answer({"cell": name, "removable": True}, lambda: out.print(text, highlight=False, soft_wrap=True))


def _show(cells: Sequence[CellProtocol], then: str) -> None:
    facts = [{"cell": cell.name, "now": cell.clock.now()} for cell in cells]
    lines = [f"{cell.name}: {cell.clock.now():%Y-%m-%d %H:%M:%S} UTC{then}" for cell in cells]
    answer(facts, lambda: out.print("\n".join(lines), highlight=False))
