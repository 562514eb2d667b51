"""`horae task …`."""

from datetime import datetime
from typing import Annotated

import msgspec
import typer
from rich.table import Table

from horae.api.models.tasks import TaskAnswer, TaskView
from horae.boot.commands.jobs import json_of
from horae.boot.commands.schedules import moment
from horae.boot.session import caller, out, run
from horae.boot.telling import Verbs, answer, say
from horae.domain.ids import Prefix, public
from horae.service import tasks
from horae.service.tasks import Answer

app = Verbs(no_args_is_help=True)


@app.command()
def put(
    type_name: Annotated[str, typer.Argument(metavar="TYPE")],
    key: str,
    at: Annotated[
        datetime | None, typer.Option(help="When; now where omitted.", formats=["%Y-%m-%dT%H:%M:%S%z"])
    ] = None,
    payload: Annotated[str | None, typer.Option(help="JSON; kept as it is where omitted.")] = None,
    version: Annotated[int | None, typer.Option(help="Your event's version: older ones are refused.")] = None,
) -> None:
    """Set the time of a business key; the answer says what was decided."""

    async def work() -> None:
        async with caller() as ctx:
            body = msgspec.UNSET if payload is None else json_of(payload)
            _show(await tasks.schedule(ctx, type_name, key, at=at, payload=body, version=version))

    run(work)


@app.command()
def cancel(
    type_name: Annotated[str, typer.Argument(metavar="TYPE")],
    key: str,
    version: Annotated[int | None, typer.Option(help="Your event's version: older ones are refused.")] = None,
) -> None:
    """The key's task is no longer wanted."""

    async def work() -> None:
        async with caller() as ctx:
            _show(await tasks.cancel(ctx, type_name, key, version=version))

    run(work)


@app.command()
def show(type_name: Annotated[str, typer.Argument(metavar="TYPE")], key: str) -> None:
    """What is known about a key: its state, its generation and the last decisions."""

    async def work() -> None:
        async with caller() as ctx:
            shown = await tasks.show(ctx, type_name, key)
            live, ledger = shown.known.live, shown.known.ledger
            assert ledger is not None
            state = live.state if live else ledger.outcome
            due = f", due {live.due_at:%Y-%m-%d %H:%M:%S} UTC" if live else ""
            title = f"{type_name}/{key} {state}{due}, generation {ledger.generation}"
            table = Table("on (UTC)", "decision", "time (UTC)", "reason", "by", title=title, title_justify="left")
            view = TaskView.of(type_name, key, shown)
            for line in view.decisions:
                table.add_row(moment(line.on), line.decision, moment(line.at), line.reason or "", line.by)
            answer(view, lambda: out.print(table))

    run(work)


def _show(told: Answer) -> None:
    parts = [told.decision.value]
    if told.reason:
        parts.append(f"because {told.reason}")
    if told.at:
        parts.append(f"for {told.at:%Y-%m-%d %H:%M:%S} UTC")
    if told.instance_id:
        parts.append(public(Prefix.INSTANCE, told.instance_id))
    say(TaskAnswer.of(told), " ".join(parts))
