"""`horae dead …`."""

from typing import Annotated

import typer
from rich.table import Table

from horae.api.models.dead_letters import LetterView, ReplayedView
from horae.api.models.instances import Retried
from horae.boot.commands.schedules import moment
from horae.boot.session import caller, out, run
from horae.boot.telling import Verbs, answer, say
from horae.domain.dead_letters import ReplayStatus
from horae.domain.ids import Prefix, private, public
from horae.domain.outcomes import ErrorCode
from horae.service import dead_letters

app = Verbs(no_args_is_help=True)
Job = Annotated[str | None, typer.Option(help="Those of this job.")]
Tag = Annotated[str | None, typer.Option(help="Those with this tag, for example transient_error.")]
Code = Annotated[ErrorCode | None, typer.Option(help="Those that died of this.")]


@app.command("list")
def list_(
    job: Job = None,
    tag: Tag = None,
    error_code: Code = None,
    status: Annotated[ReplayStatus | None, typer.Option(help="Those that stand here.")] = None,
    limit: int = 50,
) -> None:
    """The dead letters of the tenant, newest first."""

    async def work() -> None:
        async with caller() as ctx:
            found = await dead_letters.listing(ctx, job=job, tag=tag, error_code=error_code, status=status, limit=limit)
            table = Table("died (UTC)", "job", "key", "fire time (UTC)", "code", "tag", "status", "why", "id")
            for one in found:
                facts = (one.job, one.business_key, moment(one.fire_time), one.error_code, one.tag, one.status)
                shown = (fact or "" for fact in (*facts, one.error_msg))
                table.add_row(moment(one.created_at), *shown, public(Prefix.INSTANCE, one.instance_id))
            answer([LetterView.of(one) for one in found], lambda: out.print(table))

    run(work)


@app.command()
def replay(
    instance: Annotated[str | None, typer.Argument(help="One letter; or say which ones by the options.")] = None,
    job: Job = None,
    tag: Tag = None,
    error_code: Code = None,
    limit: Annotated[int, typer.Option(help="At most so many.")] = 1000,
) -> None:
    """Send one dead letter again now, or many behind everything that is due."""
    if instance is not None and (job or tag or error_code):
        raise typer.BadParameter("name one letter, or say which ones by the options, not both")

    async def work() -> None:
        async with caller() as ctx:
            if instance is not None:
                made = await dead_letters.replay(ctx, private(Prefix.INSTANCE, instance))
                id_ = public(Prefix.INSTANCE, made)
                say(Retried(instance_id=id_), id_)
            else:
                done = await dead_letters.replay_by(ctx, job=job, tag=tag, error_code=error_code, limit=limit)
                told = ReplayedView(sent=done.sent, refused=done.refused)
                say(told, f"{done.sent} replayed, {done.refused} refused")

    run(work)


@app.command()
def discard(instance: str) -> None:
    """Give a dead letter up for good."""

    async def work() -> None:
        async with caller() as ctx:
            await dead_letters.discard(ctx, private(Prefix.INSTANCE, instance))
            say({"instance_id": instance, "replay_status": ReplayStatus.DISCARDED}, f"{instance} discarded")

    run(work)
