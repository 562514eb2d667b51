"""`horae dead-letter …`."""

from typing import Annotated

import typer
from rich.table import Table

from horae.api.models.dead_letters import DeadLetterView, ReplayCountsView
from horae.api.models.instances import RetryAnswer
from horae.boot.commands.schedules import moment
from horae.boot.output import answer, say
from horae.boot.session import caller, out
from horae.boot.verbs import Verbs
from horae.domain.ids import Prefix, private, public
from horae.domain.instances.dead_letters import ReplayStatus
from horae.domain.instances.outcomes import ErrorCode
from horae.service.instances import dead_letters

app = Verbs(no_args_is_help=True)
Job = Annotated[str | None, typer.Option(help="Only dead letters of this job.")]
Tag = Annotated[str | None, typer.Option(help="Only this tag, for example transient_error.")]
Code = Annotated[ErrorCode | None, typer.Option(help="Only this error code.")]


@app.command("list")
async def list_(
    job: Job = None,
    tag: Tag = None,
    error_code: Code = None,
    status: Annotated[ReplayStatus | None, typer.Option(help="Only this status.")] = None,
    limit: int = 50,
) -> None:
    """List the dead letters of the tenant, newest first."""
    async with caller() as ctx:
        found = await dead_letters.listing(ctx, job=job, tag=tag, error_code=error_code, status=status, limit=limit)
        table = Table("died (UTC)", "job", "key", "fire time (UTC)", "code", "tag", "status", "why", "id")
        for one in found:
            facts = (one.job, one.business_key, moment(one.fire_time), one.error_code, one.tag, one.status)
            columns = (fact or "" for fact in (*facts, one.error_msg))
            table.add_row(moment(one.created_at), *columns, public(Prefix.INSTANCE, one.instance_id))
        answer([DeadLetterView.of(one) for one in found], lambda: out.print(table))


@app.command()
async def replay(
    instance: Annotated[
        str | None, typer.Argument(help="One dead letter, by its instance id; omit it to select by options.")
    ] = None,
    job: Job = None,
    tag: Tag = None,
    error_code: Code = None,
    limit: Annotated[int, typer.Option(help="Maximum number of dead letters.")] = 1000,
) -> None:
    """Replay one dead letter now, or many in the backfill lane, which has the smallest share of the calls."""
    if instance is not None and (job or tag or error_code):
        raise typer.BadParameter("name one dead letter, or select by options, not both")
    async with caller() as ctx:
        if instance is not None:
            made = await dead_letters.replay(ctx, private(Prefix.INSTANCE, instance))
            id_ = public(Prefix.INSTANCE, made)
            say(RetryAnswer(instance_id=id_), id_)
        else:
            done = await dead_letters.replay_by(ctx, job=job, tag=tag, error_code=error_code, limit=limit)
            facts = ReplayCountsView(sent=done.sent, refused=done.refused)
            say(facts, f"{done.sent} replayed, {done.refused} refused")


@app.command()
async def discard(instance: str) -> None:
    """Discard a dead letter for good."""
    async with caller() as ctx:
        await dead_letters.discard(ctx, private(Prefix.INSTANCE, instance))
        say({"instance_id": instance, "replay_status": ReplayStatus.DISCARDED}, f"{instance} discarded")
