"""`horae task …`."""

from datetime import datetime
from typing import Annotated

import msgspec
import typer

from horae.boot.commands.payloads import json_of
from horae.boot.output import say
from horae.boot.remote import Reply, remote
from horae.boot.tables import answer_rows
from horae.boot.times import MOMENT, moment
from horae.boot.verbs import Verbs
from horae_client.asked import tasks as asked
from horae_client.models import Decision

app = Verbs(no_args_is_help=True)
Type = Annotated[str, typer.Argument(metavar="TYPE")]
Version = Annotated[int | None, typer.Option(help="Your event's version: older ones are refused.")]


@app.command()
async def put(
    type_name: Type,
    key: str,
    at: Annotated[datetime | None, typer.Option(help="When; now where omitted.", formats=[MOMENT])] = None,
    payload: Annotated[str | None, typer.Option(help="JSON; kept as it is where omitted.")] = None,
    version: Version = None,
) -> None:
    """Set the time of a business key; the answer says what was decided."""
    body = msgspec.UNSET if payload is None else json_of(payload)
    async with remote() as api:
        _show(await api.ask(asked.schedule(type_name, key, at, body, version)))


@app.command()
async def cancel(type_name: Type, key: str, version: Version = None) -> None:
    """Cancel the task of a business key."""
    async with remote() as api:
        _show(await api.ask(asked.cancel(type_name, key, version)))


@app.command()
async def show(type_name: Type, key: str) -> None:
    """Show a business key: its state, its generation and the last decisions."""
    async with remote() as api:
        reply = await api.ask(asked.get(type_name, key))
    task = reply.value
    state = task.live.state if task.live else task.outcome
    due = f", due {moment(task.live.due_at)} UTC" if task.live else ""
    title = f"{type_name}/{key} {state}{due}, generation {task.generation}, {task.instance_id}"
    rows = [(moment(one.on), one.decision, moment(one.at), one.reason, one.by) for one in task.decisions]
    columns = ("on (UTC)", "decision", "time (UTC)", "reason", "by")
    answer_rows(reply.facts, columns, rows, empty="no decision is recorded", least=("by",), title=title)


def _show(reply: Reply[Decision]) -> None:
    result = reply.value
    parts = [result.decision]
    if result.reason:
        parts.append(f"because {result.reason}")
    if result.at:
        parts.append(f"for {moment(result.at)} UTC")
    if result.instance_id:
        parts.append(result.instance_id)
    say(reply.facts, " ".join(parts))
