"""`horae task …`."""

from datetime import datetime
from typing import Annotated

import msgspec
import typer
from rich.table import Table

from horae.api.models.tasks import TaskAnswer, TaskView
from horae.boot.commands.jobs import json_of
from horae.boot.commands.schedules import moment
from horae.boot.output import answer, say
from horae.boot.session import caller, out
from horae.boot.verbs import Verbs
from horae.domain.ids import Prefix, public
from horae.service.tasks import tasks
from horae.service.tasks.tasks import ScheduleAnswer

app = Verbs(no_args_is_help=True)


@app.command()
async def put(
    type_name: Annotated[str, typer.Argument(metavar="TYPE")],
    key: str,
    at: Annotated[
        datetime | None, typer.Option(help="When; now where omitted.", formats=["%Y-%m-%dT%H:%M:%S%z"])
    ] = None,
    payload: Annotated[str | None, typer.Option(help="JSON; kept as it is where omitted.")] = None,
    version: Annotated[int | None, typer.Option(help="Your event's version: older ones are refused.")] = None,
) -> None:
    """Set the time of a business key; the answer says what was decided."""
    async with caller() as ctx:
        body = msgspec.UNSET if payload is None else json_of(payload)
        _show(await tasks.schedule(ctx, type_name, key, at=at, payload=body, version=version))


@app.command()
async def cancel(
    type_name: Annotated[str, typer.Argument(metavar="TYPE")],
    key: str,
    version: Annotated[int | None, typer.Option(help="Your event's version: older ones are refused.")] = None,
) -> None:
    """Cancel the task of a business key."""
    async with caller() as ctx:
        _show(await tasks.cancel(ctx, type_name, key, version=version))


@app.command()
async def show(type_name: Annotated[str, typer.Argument(metavar="TYPE")], key: str) -> None:
    """Show a business key: its state, its generation and the last decisions."""
    async with caller() as ctx:
        detail = await tasks.show(ctx, type_name, key)
        live, ledger = detail.known.live, detail.known.ledger
        assert ledger is not None
        state = live.state if live else ledger.outcome
        due = f", due {live.due_at:%Y-%m-%d %H:%M:%S} UTC" if live else ""
        title = f"{type_name}/{key} {state}{due}, generation {ledger.generation}"
        table = Table("on (UTC)", "decision", "time (UTC)", "reason", "by", title=title, title_justify="left")
        view = TaskView.of(type_name, key, detail)
        for line in view.decisions:
            table.add_row(moment(line.on), line.decision, moment(line.at), line.reason or "", line.by)
        answer(view, lambda: out.print(table))


def _show(result: ScheduleAnswer) -> None:
    parts = [result.decision.value]
    if result.reason:
        parts.append(f"because {result.reason}")
    if result.at:
        parts.append(f"for {result.at:%Y-%m-%d %H:%M:%S} UTC")
    if result.instance_id:
        parts.append(public(Prefix.INSTANCE, result.instance_id))
    say(TaskAnswer.of(result), " ".join(parts))
