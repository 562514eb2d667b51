"""`horae dead-letter …`."""

from typing import Annotated

import typer
from msgspec import UNSET

from horae.boot.commands.payloads import json_of
from horae.boot.completion import complete_jobs
from horae.boot.output import say
from horae.boot.remote import remote
from horae.boot.tables import answer_rows
from horae.boot.times import moment
from horae.boot.verbs import Verbs
from horae.domain.instances.dead_letters import ReplayStatus
from horae.domain.instances.outcomes import ErrorCode
from horae_client.asked import dead_letters as asked
from horae_client.wire import said

app = Verbs(no_args_is_help=True)
Job = Annotated[str | None, typer.Option(help="Only dead letters of this job.", autocompletion=complete_jobs)]
Tag = Annotated[str | None, typer.Option(help="Only this tag, for example transient_error.")]
Cause = Annotated[str | None, typer.Option(help="Only dead letters with this failure cause.")]
Code = Annotated[ErrorCode | None, typer.Option(help="Only this error code.")]


@app.command("list")
async def list_(
    job: Job = None,
    tag: Tag = None,
    error_code: Code = None,
    cause: Cause = None,
    status: Annotated[ReplayStatus | None, typer.Option(help="Only this status.")] = None,
    limit: int = 50,
) -> None:
    """List the dead letters of the tenant, newest first."""
    query = said(job=job, tag=tag, error_code=error_code, cause=cause, status=status)
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
    payload: Annotated[str | None, typer.Option(help="JSON that one dead letter is replayed with.")] = None,
) -> None:
    """Replay one dead letter now, or many in the backfill lane, which has the smallest share of the calls."""
    if instance is not None and (job or tag or error_code):
        raise typer.BadParameter("name one dead letter, or select by options, not both")
    if instance is None and payload is not None:
        raise typer.BadParameter("name the dead letter whose payload is edited")
    async with remote() as api:
        if instance is not None:
            one = await api.ask(asked.replay(instance, UNSET if payload is None else json_of(payload)))
            say(one.facts, f"replayed as {one.value.instance_id}")
            return
        many = await api.ask(asked.replay_many(said(job=job, tag=tag, error_code=error_code, limit=limit)))
    say(many.facts, f"{many.value.sent} replayed, {many.value.refused} refused")


@app.command()
async def discard(
    instance: Annotated[
        str | None, typer.Argument(help="One dead letter, by its instance id; omit it to select by options.")
    ] = None,
    cause: Cause = None,
    job: Job = None,
    tag: Tag = None,
    error_code: Code = None,
    reason: Annotated[str | None, typer.Option(help="Why many are discarded, for the audit log.")] = None,
    limit: Annotated[int, typer.Option(help="Maximum number of dead letters.")] = 1000,
) -> None:
    """Discard one dead letter for good, or many with a reason."""
    if (instance is None) == (reason is None):
        raise typer.BadParameter("name one dead letter, or select many by options and give a --reason")
    async with remote() as api:
        if instance is not None:
            await api.ask(asked.discard(instance))
            say({"instance_id": instance, "replay_status": ReplayStatus.DISCARDED}, f"{instance} discarded")
            return
        body = said(cause=cause, job=job, tag=tag, error_code=error_code, limit=limit, reason=reason)
        many = await api.ask(asked.discard_many(body))
    say(many.facts, f"{many.value.changed} discarded, {many.value.refused} refused")


@app.command("tag")
async def tag_(
    add: Annotated[list[str] | None, typer.Option(help="A tag to add; may be repeated.")] = None,
    remove: Annotated[list[str] | None, typer.Option(help="A tag to remove; may be repeated.")] = None,
    cause: Cause = None,
    job: Job = None,
    tag: Tag = None,
    error_code: Code = None,
    limit: Annotated[int, typer.Option(help="Maximum number of dead letters.")] = 1000,
) -> None:
    """Add tags to many dead letters, and remove others."""
    body = said(cause=cause, job=job, tag=tag, error_code=error_code, limit=limit)
    async with remote() as api:
        many = await api.ask(asked.tag_many({**body, "add": add or [], "remove": remove or []}))
    say(many.facts, f"{many.value.changed} changed, {many.value.refused} refused")
