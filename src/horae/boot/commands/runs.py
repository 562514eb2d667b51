"""`horae instance …`, `horae node list`, `horae health`: what runs, what ran, and who looks after it."""

from collections import Counter
from typing import Annotated

import msgspec
import typer
from rich.table import Table

from horae.api.models.instances import InstanceDetail, InstanceView, Retried
from horae.api.models.operations import HealthView, NodesView, NodeView, ShardView
from horae.boot.commands.hold_lines import hold_line
from horae.boot.commands.schedules import moment
from horae.boot.session import caller, out, run
from horae.boot.telling import Verbs, answer, say
from horae.domain.ids import Prefix, private, public
from horae.domain.lifecycle import State
from horae.domain.placement import SHARDS
from horae.domain.searches import LAST_ID, Sought
from horae.domain.signals import Mode
from horae.service import expiry, holds, interventions, search
from horae.service import health as service
from horae.service.context import Context
from horae.service.health import Health
from horae.service.search import Past

instance = Verbs(no_args_is_help=True)
Id = Annotated[str, typer.Argument(metavar="INSTANCE", help="An instance's id, ins_….")]


@instance.command("list")
def list_(
    state: Annotated[list[State] | None, typer.Option(help="Only these states.")] = None,
    key: Annotated[str | None, typer.Option(help="Only this business key.")] = None,
    limit: int = 50,
) -> None:
    """The tenant's instances, live and ended, newest first."""

    async def work() -> None:
        async with caller() as ctx:
            found = await _found(ctx, Sought(tuple(state or ()), business_key=key), limit)
        table = Table("fire time (UTC)", "state", "key", "attempts", "why", "id")
        for past in found:
            why = past.reason or past.error_code or past.error_msg or ""
            id_ = public(Prefix.INSTANCE, past.id)
            table.add_row(moment(past.fire_time), past.state, past.business_key or "", str(past.attempt), why, id_)
        answer([InstanceView.of(past) for past in found], lambda: out.print(table))

    run(work)


async def _found(ctx: Context, sought: Sought, limit: int) -> list[Past]:
    found: list[Past] = []
    before = LAST_ID
    while len(found) < limit:
        page = await search.of_tenant(ctx, sought, before=before, limit=limit - len(found))
        found += page.found
        if page.next is None:
            break
        before = page.next.id
    return found


@instance.command("show")
def show(id_: Id) -> None:
    """One instance: its state and why, what it waits for, and its last attempts."""

    async def work() -> None:
        async with caller() as ctx:
            past = await search.find(ctx, private(Prefix.INSTANCE, id_))
            hold, end = await holds.of_instance(ctx, past), await expiry.of_instance(ctx, past)
        told = InstanceDetail.whole(past, hold, end)
        facts = told.model_dump(mode="json") | {"held": None if told.held is None else hold_line(told.held)}
        lines = [f"{name:<18}{value}" for name, value in facts.items() if value not in (None, [])]
        answer(told, lambda: out.print("\n".join(lines), highlight=False, soft_wrap=True))

    run(work)


@instance.command()
def cancel(id_: Id) -> None:
    """End a live instance; a call in flight is not aborted, its answer is refused."""

    async def work() -> None:
        async with caller() as ctx:
            ended = await interventions.cancel(ctx, private(Prefix.INSTANCE, id_))
            say(InstanceView.of(ended), f"{id_} {ended.state}")

    run(work)


@instance.command()
def retry(id_: Id) -> None:
    """Try again now: a failed one at once, a dead one as a replay."""

    async def work() -> None:
        async with caller() as ctx:
            again = public(Prefix.INSTANCE, await interventions.retry(ctx, private(Prefix.INSTANCE, id_)))
            say(Retried(instance_id=again), again)

    run(work)


def health() -> None:
    """How the scheduler does."""

    async def work() -> None:
        async with caller() as ctx:
            told = await service.health(ctx.store)
        say(HealthView(**msgspec.to_builtins(told)), _health_text(told))

    run(work)


def _health_text(told: Health) -> str:
    """In a line, with how old it is."""
    parts = [f"no answer from cell {', '.join(told.cells_down)}"] if told.cells_down else []
    if told.counted_until is None:
        parts.append("nothing was counted in the last 10 minutes")
    else:
        late = f" (limit {told.trigger_delay_limit_ms} ms)" if told.mode == Mode.DEGRADED else ""
        letters = "dead letter" if told.dlq_growth_per_min == 1 else "dead letters"
        parts += [
            f"95 % of fires within {told.trigger_delay_p95_ms} ms{late}",
            f"{told.success_rate_10m * 100:.2f} % of attempts succeed",
            f"{told.backlog} due",
            f"{told.retry_backlog} to be retried",
            f"{told.dlq_growth_per_min} {letters} per minute",
            f"counted once a minute, until {told.counted_until:%H:%M} UTC",
        ]
    return f"{told.mode}: {', '.join(parts)}"


def nodes() -> None:
    """Every node in every cell: what it holds, and whether it lives."""

    async def work() -> None:
        async with caller() as ctx:
            cells = await service.nodes(ctx.store)
        found = [NodeView.of(cell, node) for cell in cells for node in cell.nodes or ()]
        table = Table("node", "cell", "shards", "alive", "seen (s ago)", "id")
        for node in found:
            alive = "draining" if node.draining else "yes" if node.alive else "no"
            table.add_row(node.name, node.cell, str(node.shards), alive, f"{node.seen_seconds_ago:.1f}", node.id)
        down = [cell.cell for cell in cells if cell.nodes is None]
        answer(NodesView(nodes=found, cells_down=down), lambda: out.print(table))

    run(work)


def shards() -> None:
    """How many shards of each cell are in which node's hands; with --json every shard."""

    async def work() -> None:
        async with caller() as ctx:
            told = await service.shards_of(ctx.store, limit=SHARDS)
        found = [ShardView.of(cell, row) for cell in told for row in cell.shards]
        held = Counter((one.cell, one.state, one.node or "", one.node_id or "", one.alive) for one in found)
        table = Table("cell", "state", "shards", "node", "alive", "node id")
        for (cell, state, node, node_id, alive), many in sorted(held.items()):
            table.add_row(cell, state, str(many), node or "unassigned", "yes" if alive else "no", node_id)
        answer(found, lambda: out.print(table))

    run(work)
