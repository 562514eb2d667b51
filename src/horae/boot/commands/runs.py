"""`horae instance …`, `horae nodes`, `horae shards` and `horae health`."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Final

import msgspec
import typer
from rich.table import Table

from horae.api.models.attempts import AttemptView
from horae.api.models.instances import InstanceDetail, InstanceView, RetryAnswer
from horae.api.models.operations import HealthView, NodesView, NodeView, ShardView
from horae.boot.commands.hold_lines import hold_line
from horae.boot.commands.schedules import moment
from horae.boot.output import answer, say
from horae.boot.session import caller, err, out
from horae.boot.verbs import Verbs
from horae.domain.health.causes import CauseKind, HealthCause
from horae.domain.ids import Prefix, private, public
from horae.domain.instances.lifecycle import State
from horae.domain.instances.searches import InstanceFilter, InstanceOrder
from horae.domain.placement import SHARDS
from horae.service.context import Context
from horae.service.health import health as service
from horae.service.health.health import Health
from horae.service.instances import expiry, interventions, tiers
from horae.service.instances.searches import InstanceRecord
from horae.service.instances.tiers import START, PagePosition, ReadCost
from horae.service.limits import holds

instance = Verbs(no_args_is_help=True)
Id = Annotated[str, typer.Argument(metavar="INSTANCE", help="An instance's id, ins_….")]


@instance.command("list")
async def list_(
    state: Annotated[list[State] | None, typer.Option(help="Only these states.")] = None,
    key: Annotated[str | None, typer.Option(help="Only this business key.")] = None,
    order: Annotated[InstanceOrder, typer.Option(help="By creation, or by fire time.")] = InstanceOrder.CREATED,
    limit: int = 50,
) -> None:
    """List the tenant's instances, live and ended, newest first."""
    async with caller() as ctx:
        found, reads = await _found(ctx, InstanceFilter(tuple(state or ()), business_key=key), order, limit)
    name_archive_reads(reads)
    table = Table("fire time (UTC)", "state", "key", "attempts", "why", "id")
    for past in found:
        why = past.reason or past.error_code or past.error_msg or ""
        id_ = public(Prefix.INSTANCE, past.id)
        table.add_row(moment(past.fire_time), past.state, past.business_key or "", str(past.attempt), why, id_)
    answer([InstanceView.of(past) for past in found], lambda: out.print(table))


async def _found(
    ctx: Context, sought: InstanceFilter, order: InstanceOrder, limit: int
) -> tuple[list[InstanceRecord], list[ReadCost]]:
    """The instances, and what was read from the archive for them."""
    found: list[InstanceRecord] = []
    reads: list[ReadCost] = []
    at: PagePosition | None = START
    while at is not None and len(found) < limit:
        page = await tiers.of_tenant(ctx, sought, at=at, limit=limit - len(found), order=order)
        found += page.found
        reads += [] if page.archive is None else [page.archive]
        at = page.next
    return found, reads


def name_archive_reads(reads: Sequence[ReadCost]) -> None:
    """Print on stderr what was read from the archive."""
    if reads:
        requests, size, seconds = (
            sum(getattr(one, name) for one in reads) for name in ("requests", "bytes", "seconds")
        )
        err.print(f"also from the archive: {requests:,} requests, {size:,} bytes, {seconds:.2f} s", style="dim")


@instance.command("show")
async def show(id_: Id) -> None:
    """Show one instance: its state with the reason, what it waits for, and its last attempts."""
    async with caller() as ctx:
        past, read = await tiers.find(ctx, private(Prefix.INSTANCE, id_))
        hold, end = await holds.of_instance(ctx, past), await expiry.of_instance(ctx, past)
    name_archive_reads([] if read is None else [read])
    result = InstanceDetail.whole(past, hold, end, read, answers=True)
    facts = result.model_dump(mode="json", exclude={"attempts"})
    facts["held"] = None if result.held is None else hold_line(result.held)
    lines = [f"{name:<18}{value}" for name, value in facts.items() if value not in (None, [])]
    lines += [line for attempt in result.attempts for line in _attempt_lines(attempt)]
    answer(result, lambda: out.print("\n".join(lines), highlight=False, soft_wrap=True))


def _attempt_lines(one: AttemptView) -> list[str]:
    """An attempt: when and for how long, by whom, what was called, what came of it; and the answer below."""
    parts = [
        None if one.started_at is None else f"{moment(one.started_at)} UTC",
        None if one.duration_ms is None else f"{one.duration_ms} ms",
        None if one.node is None else f"by node {one.node}",
        None if one.worker_id is None else f"by worker {one.worker_id}",
        one.request,
        None if one.status is None else f"HTTP {one.status}",
        one.code,
    ]
    said = ", ".join(part for part in parts if part is not None)
    return [f"{f'attempt {one.attempt}':<18}{said}", *([f"{'':<18}{one.answer}"] if one.answer else [])]


@instance.command()
async def cancel(id_: Id) -> None:
    """Cancel a live instance. A call in flight is not aborted, but its result is refused."""
    async with caller() as ctx:
        ended = await interventions.cancel(ctx, private(Prefix.INSTANCE, id_))
        say(InstanceView.of(ended), f"{id_} {ended.state}")


@instance.command()
async def retry(id_: Id) -> None:
    """Try again now: a failed instance at once, a dead one as a replay."""
    async with caller() as ctx:
        again = public(Prefix.INSTANCE, await interventions.retry(ctx, private(Prefix.INSTANCE, id_)))
        say(RetryAnswer(instance_id=again), again)


async def health() -> None:
    """Show the health of the scheduler."""
    async with caller() as ctx:
        result = await service.health(ctx, objective=ctx.memory.objective)
    say(HealthView(**msgspec.to_builtins(result)), _health_text(result))


CAUSE_TEXTS: Final = {
    CauseKind.CELL_DOWN: "no answer from cell {cell}",
    CauseKind.SHARDS_UNHELD: "no node holds {count} shards of cell {cell}",
    CauseKind.TARGET_SILENT: "{target} has not answered since {since:%H:%M:%S} UTC, {count} calls wait",
    CauseKind.TARGET_FAILING: "{target} fails since {since:%H:%M:%S} UTC, {count} calls wait",
    CauseKind.BUDGET: "the error budget of cell {cell} burns too fast",
}
"""The texts of causes that no figure of the line shows."""


def _cause_text(cause: HealthCause) -> str:
    return CAUSE_TEXTS[cause.kind].format(**msgspec.structs.asdict(cause))


def _health_text(result: Health) -> str:
    """The health in one line, with its age."""
    parts = [_cause_text(cause) for cause in result.causes if cause.kind in CAUSE_TEXTS]
    if result.counted_until is None:
        parts.append("nothing was counted in the last 10 minutes")
    else:
        is_late = any(cause.kind == CauseKind.LATE for cause in result.causes)
        late = f" (limit {result.trigger_delay_limit_ms} ms)" if is_late else ""
        noun = "dead letter" if result.dlq_growth_per_min == 1 else "dead letters"
        parts += [
            f"95 % of fires within {result.trigger_delay_p95_ms} ms{late}",
            f"{result.success_rate_10m * 100:.2f} % of attempts succeed",
            f"{result.backlog} due",
            f"{result.retry_backlog} to be retried",
            f"{result.dlq_growth_per_min} {noun} per minute",
            f"counted once a minute, until {result.counted_until:%H:%M} UTC",
        ]
    return f"{result.mode}: {', '.join(parts)}"


async def nodes() -> None:
    """List every node in every cell: how many shards it holds, and whether it is alive."""
    async with caller() as ctx:
        cells = await service.nodes(ctx)
    found = [NodeView.of(cell, node) for cell in cells for node in cell.nodes or ()]
    table = Table("node", "cell", "shards", "alive", "seen (s ago)", "id")
    for node in found:
        alive = "draining" if node.draining else "yes" if node.alive else "no"
        table.add_row(node.name, node.cell, str(node.shards), alive, f"{node.seen_seconds_ago:.1f}", node.id)
    down = [cell.cell for cell in cells if cell.nodes is None]
    answer(NodesView(nodes=found, cells_down=down), lambda: out.print(table))


async def shards() -> None:
    """Show how many shards of each cell each node holds; with --json every shard."""
    async with caller() as ctx:
        result = await service.shards_of(ctx, limit=SHARDS)
    found = [ShardView.of(cell, row) for cell in result for row in cell.shards]
    held = Counter((one.cell, one.state, one.node or "", one.node_id or "", one.alive) for one in found)
    table = Table("cell", "state", "shards", "node", "alive", "node id")
    for (cell, state, node, node_id, alive), many in sorted(held.items()):
        table.add_row(cell, state, str(many), node or "unassigned", "yes" if alive else "no", node_id)
    answer(found, lambda: out.print(table))
