"""`horae instance …`, `horae backfill …`, `horae health`: what runs, what ran, what is to run again."""

from datetime import datetime
from typing import Annotated

import typer
from rich.table import Table

from horae.boot.commands.schedules import moment
from horae.boot.session import caller, out, run
from horae.domain.backfills import DEFAULT_CAP, Backfill
from horae.domain.errors import Invalid
from horae.domain.ids import Prefix, private, public
from horae.domain.lifecycle import State
from horae.domain.searches import LAST_ID, Sought
from horae.service import backfills, interventions, search
from horae.service import health as service
from horae.service.backfills import Asked
from horae.service.search import Past

instance = typer.Typer(no_args_is_help=True)
backfill = typer.Typer(no_args_is_help=True)


@instance.command("list")
def list_(
    state: Annotated[list[State] | None, typer.Option(help="Only these states.")] = None,
    key: Annotated[str | None, typer.Option(help="Only this business key.")] = None,
    limit: int = 50,
) -> None:
    """The tenant's instances, live and ended, newest first."""

    async def work() -> None:
        async with caller() as ctx:
            sought = Sought(tuple(state or ()), business_key=key)
            found: list[Past] = []
            before = LAST_ID
            while len(found) < limit:
                page = await search.of_tenant(ctx, sought, before=before, limit=limit - len(found))
                found += page.found
                if page.next is None:
                    break
                before = page.next.id
            table = Table("fire time (UTC)", "state", "key", "attempts", "why", "id")
            for past in found:
                why = past.reason or past.error_code or past.error_msg or ""
                id_ = public(Prefix.INSTANCE, past.id)
                table.add_row(moment(past.fire_time), past.state, past.business_key or "", str(past.attempt), why, id_)
            out.print(table)

    run(work)


@instance.command()
def cancel(id_: Annotated[str, typer.Argument(metavar="INSTANCE")]) -> None:
    """End a live instance; a call in flight is not aborted, its answer is refused."""

    async def work() -> None:
        async with caller() as ctx:
            ended = await interventions.cancel(ctx, private(Prefix.INSTANCE, id_))
            out.print(f"{id_} {ended.state}", highlight=False)

    run(work)


@instance.command()
def retry(id_: Annotated[str, typer.Argument(metavar="INSTANCE")]) -> None:
    """Try again now: a failed one at once, a dead one as a replay."""

    async def work() -> None:
        async with caller() as ctx:
            again = await interventions.retry(ctx, private(Prefix.INSTANCE, id_))
            out.print(public(Prefix.INSTANCE, again), highlight=False)

    run(work)


@backfill.command()
def start(
    job: str,
    since: Annotated[
        datetime, typer.Option(help="From this fire time on, with its offset.", formats=["%Y-%m-%dT%H:%M:%S%z"])
    ],
    until: Annotated[datetime, typer.Option(help="Up to this one, excluded.", formats=["%Y-%m-%dT%H:%M:%S%z"])],
    key: Annotated[str, typer.Option(help="The Idempotency-Key: the same key begins it once.")],
    cap: Annotated[int, typer.Option(help="Refuse more fires than these.")] = DEFAULT_CAP,
    rerun: Annotated[bool, typer.Option(help="Run again on purpose what ran before, under new keys.")] = False,
) -> None:
    """Run a job's past fires of a range; nodes walk through it, behind what is due."""

    async def work() -> None:
        if since.tzinfo is None or until.tzinfo is None:
            raise Invalid("a time needs its offset, for example 2026-11-15T09:00:00+08:00")
        async with caller() as ctx:
            _show((await backfills.start(ctx, job, key, Asked(since, until, cap, rerun))).backfill)

    run(work)


@backfill.command()
def show(id_: Annotated[str, typer.Argument(metavar="BACKFILL")]) -> None:
    """How far a backfill has come."""

    async def work() -> None:
        async with caller() as ctx:
            shown = await backfills.show(ctx, private(Prefix.BACKFILL, id_))
            _show(shown.backfill)
            ended = ", ".join(f"{many} {state}" for state, many in sorted(shown.ended.items())) or "none ended"
            out.print(f"{shown.waiting} waiting or running, {ended}", highlight=False)

    run(work)


@backfill.command("cancel")
def call_off(id_: Annotated[str, typer.Argument(metavar="BACKFILL")]) -> None:
    """Make no more of it and cancel what waits; what runs may finish."""

    async def work() -> None:
        async with caller() as ctx:
            _show(await backfills.cancel(ctx, private(Prefix.BACKFILL, id_)))

    run(work)


def health() -> None:
    """How the scheduler does, and who looks after it."""

    async def work() -> None:
        async with caller() as ctx:
            told = await service.health(ctx.store)
            out.print(
                f"{told.mode}: 95 % of fires within {told.trigger_delay_p95_ms} ms, "
                f"{told.success_rate_10m:.2%} of attempts succeed, {told.backlog} due, "
                f"{told.retry_backlog} to be retried, "
                f"{told.dlq_growth_per_min} dead letters a minute",
                highlight=False,
            )
            table = Table("node", "cell", "shards", "alive", "seen (s ago)")
            for cell in await service.nodes(ctx.store):
                for node in cell.nodes or ():
                    ago = f"{(cell.now - node.seen_at).total_seconds():.1f}"
                    table.add_row(node.name, cell.cell, str(node.shards), "yes" if node.alive else "no", ago)
            out.print(table)

    run(work)


def _show(one: Backfill) -> None:
    done = f"{one.born} born, {one.already} not needed of {one.planned}"
    range_ = f"{moment(one.since)} to {moment(one.until)}"
    out.print(f"{public(Prefix.BACKFILL, one.id)} {one.status}: {range_}, {done}", highlight=False)
