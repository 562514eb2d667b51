"""`horae intake …` and `horae parked-message …`: schedule changes that arrive by topics."""

from datetime import datetime
from typing import Annotated

import typer
from rich.table import Table

from horae.api.models.intakes import IntakeView, ParkedMessageView
from horae.boot.output import answer, say
from horae.boot.session import PAGE, all_pages, caller, out
from horae.boot.verbs import Verbs
from horae.domain.events.channels import TopicAddress
from horae.domain.events.intakes import Intake, Position
from horae.domain.ids import Prefix, private, public
from horae.service.events import intakes
from horae.service.events import parked_messages as messages
from horae.service.events.intakes import IntakeDetail

app = Verbs(no_args_is_help=True)
parking = Verbs(no_args_is_help=True)
Of = Annotated[str | None, typer.Option("--tenant", help="The tenant; the configured one if omitted.")]


@app.command()
async def put(
    name: str,
    broker: Annotated[str, typer.Option(help="A broker of this deployment, by its name.")],
    topic: Annotated[str, typer.Option(help="The topic, subject or queue there.")],
    type_: Annotated[list[str] | None, typer.Option("--type", help="Only tasks of this type.")] = None,
    tenant: Of = None,
) -> None:
    """Create or change an intake, which takes schedule changes from a topic."""
    async with caller(tenant) as ctx:
        made = await intakes.put(ctx, name, Intake(TopicAddress(broker, topic), tuple(type_ or ())))
    say(IntakeView.of(made), f"intake {name}, version {made.channel.version}")


@app.command("list")
async def listing(tenant: Of = None) -> None:
    """List the intakes of the tenant."""
    async with caller(tenant) as ctx:
        found = await all_pages(lambda last: intakes.page(ctx, last.channel.name if last else "", PAGE))
    table = Table("name", "version", "broker", "topic", "types", "taken", "waiting", "standing")
    for channel, intake, at in found:
        source = intake.source
        row = (channel.name, str(channel.version), source.broker, source.topic, ",".join(intake.types))
        counts = ("", "") if at is None else (str(at.taken), "" if at.waiting is None else str(at.waiting))
        table.add_row(*row, *counts, _status_text(channel.paused_at, at))
    answer([IntakeView.of(one) for one in found], lambda: out.print(table))


@app.command()
async def show(name: str, tenant: Of = None) -> None:
    """Show an intake and its progress."""
    async with caller(tenant) as ctx:
        _answer(await intakes.find(ctx, name))


@app.command()
async def pause(name: str, tenant: Of = None) -> None:
    """Pause an intake: messages stay in the topic."""
    async with caller(tenant) as ctx:
        _answer(await intakes.pause(ctx, name, paused=True))


@app.command()
async def resume(name: str, tenant: Of = None) -> None:
    """Resume an intake; it continues with the messages that arrived meanwhile."""
    async with caller(tenant) as ctx:
        _answer(await intakes.pause(ctx, name, paused=False))


@app.command()
async def remove(name: str, tenant: Of = None) -> None:
    """Remove an intake; messages stay in the topic."""
    async with caller(tenant) as ctx:
        gone = await intakes.remove(ctx, name)
    say(IntakeView.of(gone), f"intake {name} is gone")


@parking.command("list")
async def waiting(tenant: Of = None) -> None:
    """List messages that could not be processed, oldest first."""
    async with caller(tenant) as ctx:
        found = await all_pages(lambda last: messages.page(ctx, last.id if last else None, PAGE))
    table = Table("id", "parked (UTC)", "intake", "place", "code", "reason")
    for one in found:
        id_ = public(Prefix.PARKED, one.id)
        table.add_row(id_, f"{one.at:%Y-%m-%d %H:%M:%S}", one.intake, one.place, one.code, one.reason)
    answer([ParkedMessageView.of(one) for one in found], lambda: out.print(table))


@parking.command()
async def replay(message: str, tenant: Of = None) -> None:
    """Process a parked message again; if it is still refused, it stays parked."""
    async with caller(tenant) as ctx:
        done = await messages.replay(ctx, private(Prefix.PARKED, message))
    say(ParkedMessageView.of(done), f"{message} is done")


@parking.command()
async def drop(message: str, tenant: Of = None) -> None:
    """Delete a parked message."""
    async with caller(tenant) as ctx:
        gone = await messages.drop(ctx, private(Prefix.PARKED, message))
    say(ParkedMessageView.of(gone), f"{message} is dropped")


def _answer(one: IntakeDetail) -> None:
    channel, intake, at = one
    come = "nothing taken yet" if at is None else f"{at.taken} messages taken, {at.parked} of them parked"
    left = "" if at is None or at.waiting is None else f", {at.waiting} waited at {at.looked_at:%Y-%m-%d %H:%M:%S} UTC"
    where = f"{intake.source.broker}/{intake.source.topic}"
    say(IntakeView.of(one), f"{channel.name} from {where}: {come}{left}; {_status_text(channel.paused_at, at)}")


def _status_text(paused_at: datetime | None, at: Position | None) -> str:
    if paused_at is not None:
        return f"paused since {paused_at:%Y-%m-%d %H:%M:%S} UTC"
    return "goes on" if at is None or at.error is None else f"it waits: {at.error}"
