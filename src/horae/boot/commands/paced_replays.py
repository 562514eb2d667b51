"""`horae paced-replay …`."""

from typing import Annotated

import typer

from horae.boot.commands.dead import Cause, Code, Job, Tag
from horae.boot.output import say
from horae.boot.remote import remote
from horae.boot.tables import answer_rows
from horae.boot.times import moment
from horae.boot.verbs import Verbs
from horae.domain.instances.paced_replays import DEFAULT_PACE
from horae_client.asked import dead_letters as asked
from horae_client.keys import made
from horae_client.models import PacedReplay
from horae_client.wire import said

app = Verbs(no_args_is_help=True)


@app.command()
async def start(
    cause: Cause = None,
    job: Job = None,
    tag: Tag = None,
    error_code: Code = None,
    limit: Annotated[int, typer.Option(help="Maximum number of dead letters.")] = 1000,
    pace: Annotated[int, typer.Option(help="Dead letters a second.")] = DEFAULT_PACE,
    canary: Annotated[int, typer.Option(help="So many go first; the others follow if all of them succeed.")] = 0,
    max_failures: Annotated[int | None, typer.Option(help="Stop when more than so many die again.")] = None,
    key: Annotated[str | None, typer.Option(help="Idempotency key of the request.")] = None,
) -> None:
    """Replay many dead letters at a pace, oldest first, behind due instances."""
    body = said(cause=cause, job=job, tag=tag, error_code=error_code, limit=limit, pace=pace, canary=canary)
    async with remote() as api:
        found = await api.ask(asked.start_paced_replay(body | said(max_failures=max_failures), made(key)))
    say(found.facts, f"{found.value.id} has begun: {_progress(found.value)}")


@app.command("list")
async def list_(limit: int = 50) -> None:
    """List the paced replays of the tenant, newest first."""
    async with remote() as api:
        found = await api.items(asked.paced_replays(), limit)
    rows = [
        (
            moment(one.created_at),
            one.status,
            one.sent,
            one.limit,
            one.succeeded,
            one.failed,
            one.outstanding,
            one.refused,
            one.waits_for or one.ended_because,
            one.id,
        )
        for one in found.value
    ]
    columns = ("begun (UTC)", "status", "sent", "of", "succeeded", "failed", "open", "refused", "why", "id")
    answer_rows(found.facts, columns, rows, empty="there are no paced replays", least=("refused",), wraps=("why",))


@app.command("show")
async def show(replay: str) -> None:
    """Show the progress of a paced replay."""
    async with remote() as api:
        found = await api.ask(asked.paced_replay(replay))
    say(found.facts, _progress(found.value))


@app.command()
async def stop(replay: str) -> None:
    """Stop a paced replay. Instances that it has made go on."""
    async with remote() as api:
        found = await api.ask(asked.stop_paced_replay(replay, made(None)))
    say(found.facts, f"{replay} stopped: {_progress(found.value)}")


def _progress(one: PacedReplay) -> str:
    text = f"{one.status}, {one.sent} of at most {one.limit} sent, {one.succeeded} succeeded, {one.failed} died again"
    text += f", {one.outstanding} without an outcome, {one.refused} refused"
    if one.ended_because is not None:
        return f"{text}; it ended because {one.ended_because}"
    return text if one.waits_for is None else f"{text}; it waits for {one.waits_for}"
