"""`horae dead-letter …`."""

from typing import Annotated

import typer

from horae.boot.completion import complete_jobs
from horae.boot.output import say
from horae.boot.remote import remote
from horae.boot.tables import answer_rows
from horae.boot.times import moment
from horae.boot.verbs import Verbs
from horae.domain.instances.dead_letters import ReplayStatus
from horae.domain.instances.outcomes import ErrorCode
from horae_client.asked import runs as asked
from horae_client.wire import said

app = Verbs(no_args_is_help=True)
Job = Annotated[str | None, typer.Option(help="Only dead letters of this job.", autocompletion=complete_jobs)]
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
    query = said(job=job, tag=tag, error_code=error_code, status=status)
    async with remote() as api:
        found = await api.items(asked.dead_letters(query), limit)
    rows = [
        (
            moment(one.created_at),
            one.job,
            one.key,
            moment(one.fire_time),
            one.error_code,
            one.tag,
            one.replay_status,
            one.error_msg,
            one.instance_id,
        )
        for one in found.value
    ]
    columns = ("died (UTC)", "job", "key", "fire time (UTC)", "code", "tag", "status", "why", "id")
    empty = "no dead letter matches" if query else "there are no dead letters"
    least = ("tag", "fire time (UTC)", "key", "status", "why", "code")
    answer_rows(found.facts, columns, rows, empty=empty, least=least, wraps=("why",))


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
    async with remote() as api:
        if instance is not None:
            one = await api.ask(asked.replay(instance))
            say(one.facts, f"replayed as {one.value.instance_id}")
            return
        many = await api.ask(asked.replay_many(said(job=job, tag=tag, error_code=error_code, limit=limit)))
    say(many.facts, f"{many.value.sent} replayed, {many.value.refused} refused")


@app.command()
async def discard(instance: str) -> None:
    """Discard a dead letter for good."""
    async with remote() as api:
        await api.ask(asked.discard(instance))
    say({"instance_id": instance, "replay_status": ReplayStatus.DISCARDED}, f"{instance} discarded")
