"""`horae instance …`, `horae nodes`, `horae shards` and `horae health`."""

from collections import Counter
from typing import Annotated, Any, Final

import msgspec
import typer

from horae.boot.commands.hold_lines import hold_line
from horae.boot.commands.job_refs import OnlyJob
from horae.boot.commands.jobs import change_of
from horae.boot.following import Follow, print_new
from horae.boot.output import answer, name_cells_down, out, say, to_json
from horae.boot.remote import name_archive_reads, remote
from horae.boot.tables import answer_rows
from horae.boot.times import moment
from horae.boot.verbs import Verbs
from horae.domain.health.causes import CauseKind
from horae.domain.instances.lifecycle import State
from horae.domain.instances.searches import InstanceOrder
from horae_client import keys
from horae_client.asked import instances, jobs, scheduler
from horae_client.models import Attempt, Health, HealthCause, Instance, Shard

instance = Verbs(no_args_is_help=True)
Id = Annotated[str, typer.Argument(metavar="INSTANCE", help="An instance's id, ins_….")]
SPECIAL: Final = {"attempts", "held", "archive", "progress"}
"""Fields of an instance that have a form of their own."""


@instance.command("list")
async def list_(
    state: Annotated[list[State] | None, typer.Option(help="Only these states.")] = None,
    key: Annotated[str | None, typer.Option(help="Only this business key.")] = None,
    job: OnlyJob = None,
    order: Annotated[InstanceOrder, typer.Option(help="By creation, or by fire time.")] = InstanceOrder.CREATED,
    limit: int = 50,
    follow: Follow = False,
) -> None:
    """List the tenant's instances, live and ended, newest first."""
    states = [one.value for one in state or ()]
    asked = instances.instances(states, None, None, key, order.value)
    if job is not None:
        asked = jobs.history(job, states, None, None, key)
    async with remote() as api:
        if follow:
            await print_new(api, asked, change_of, _row)
        found = await api.items(asked, limit)
    rows = [_row(past) for past in found.value]
    columns = ("fire time (UTC)", "state", "key", "attempts", "why", "job id", "id")
    least = ("job id", "attempts", "key", "why")
    answer_rows(found.facts, columns, rows, empty="no instance matches", least=least, wraps=("why",))


def _row(past: Instance) -> tuple[object, ...]:
    why = past.reason or past.error_code or past.error_msg
    return (moment(past.fire_time), past.state, past.key, past.attempt, why, past.job_id, past.id)


@instance.command("show")
async def show(id_: Id) -> None:
    """Show one instance: its state with the reason, what it waits for, and its last attempts."""
    async with remote() as api:
        reply = await api.ask(instances.instance(id_))
    result = reply.value
    name_archive_reads([] if result.archive is None else [result.archive])
    facts = {name: value for name, value in reply.facts.items() if name not in SPECIAL and value not in (None, [])}
    if result.held is not None:
        facts["held"] = hold_line(result.held)
    if result.progress is not None:
        facts["progress"] = f"{result.progress.percent:g} % {result.progress.text or ''}".rstrip()
    lines = [f"{name:<18}{value}" for name, value in facts.items()]
    lines += [line for attempt in result.attempts for line in _attempt_lines(attempt)]
    answer(reply.facts, lambda: out.print("\n".join(lines), highlight=False, soft_wrap=True))


def _attempt_lines(one: Attempt) -> list[str]:
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


@instance.command("result")
async def get_result(id_: Id) -> None:
    """Show what an instance returned, as JSON."""
    async with remote() as api:
        reply = await api.ask(instances.result(id_))
    say(reply.facts, to_json(reply.value.result))


@instance.command()
async def cancel(id_: Id) -> None:
    """Cancel a live instance. A call in flight is not aborted, but its result is refused."""
    async with remote() as api:
        reply = await api.ask(instances.cancel_instance(id_, keys.made()))
    say(reply.facts, f"{id_} {reply.value.state}")


@instance.command()
async def retry(id_: Id) -> None:
    """Try again now: a failed instance at once, a dead one as a replay."""
    async with remote() as api:
        reply = await api.ask(instances.retry_instance(id_))
    again = reply.value.instance_id
    say(reply.facts, f"{id_} is tried again" if again == id_ else f"{id_} is replayed as {again}")


async def health() -> None:
    """Show the health of the scheduler."""
    async with remote() as api:
        reply = await api.ask(scheduler.health())
    name_cells_down(reply.value.cells_down)
    say(reply.facts, _health_text(reply.value))


CAUSE_TEXTS: Final = {
    CauseKind.CELL_DOWN: "no answer from cell {cell}",
    CauseKind.SHARDS_UNHELD: "no node holds {count} shards of cell {cell}",
    CauseKind.TARGET_SILENT: "{target} has not answered since {since:%H:%M:%S} UTC, {count} calls wait",
    CauseKind.TARGET_FAILING: "{target} fails since {since:%H:%M:%S} UTC, {count} calls wait",
    CauseKind.BUDGET: "the error budget of cell {cell} burns too fast",
}
"""The texts of causes that no figure of the line shows."""


def _cause_text(cause: HealthCause) -> str:
    return CAUSE_TEXTS[CauseKind(cause.kind)].format(**msgspec.structs.asdict(cause))


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
    """List every node in every cell: how many shards it holds, and whether it is alive.

    Needs a key of the tenant `system`.
    """
    async with remote() as api:
        reply = await api.ask(scheduler.nodes())
    name_cells_down(reply.value.cells_down)
    rows = [
        (
            node.name,
            node.cell,
            node.shards,
            "draining" if node.draining else "yes" if node.alive else "no",
            f"{node.seen_seconds_ago:.1f}",
            node.id,
        )
        for node in reply.value.nodes
    ]
    columns = ("node", "cell", "shards", "alive", "seen (s ago)", "id")
    answer_rows(reply.facts, columns, rows, empty="no node runs", least=("seen (s ago)",))


async def shards() -> None:
    """Show how many shards of each cell each node holds; with --json every shard.

    Needs a key of the tenant `system`.
    """
    found: list[Shard] = []
    facts: list[Any] = []
    async with remote() as api:
        while (page := await api.ask(scheduler.shards(found[-1].shard if found else -1))).value:
            found += page.value
            facts += page.facts
    held = Counter((one.cell, one.state, one.node or "", one.node_id or "", one.alive) for one in found)
    rows = [
        (cell, state, many, node or "unassigned", "yes" if alive else "no", node_id)
        for (cell, state, node, node_id, alive), many in sorted(held.items())
    ]
    columns = ("cell", "state", "shards", "node", "alive", "node id")
    answer_rows(facts, columns, rows, empty="no cell answers")
