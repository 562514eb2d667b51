"""`horae intake …` and `horae parked …`: schedule changes that come by topics."""

from datetime import datetime
from typing import Annotated

import typer
from rich.table import Table

from horae.api.models.intakes import IntakeView, ParkedView
from horae.boot.session import caller, out, run
from horae.boot.telling import Verbs, answer, say
from horae.domain.channels import Topic
from horae.domain.ids import Prefix, private, public
from horae.domain.intakes import Intake, Parked, Position
from horae.service import intakes
from horae.service import parked as messages
from horae.service.intakes import Standing

app = Verbs(no_args_is_help=True)
parking = Verbs(no_args_is_help=True)
Of = Annotated[str | None, typer.Option("--tenant", help="Whose; the configured tenant's where omitted.")]
MOST = 200


@app.command()
def put(
    name: str,
    broker: Annotated[str, typer.Option(help="A broker of this deployment, by its name.")],
    topic: Annotated[str, typer.Option(help="The topic, subject or queue there.")],
    type_: Annotated[list[str] | None, typer.Option("--type", help="Only tasks of this type.")] = None,
    tenant: Of = None,
) -> None:
    """Take schedule changes from a topic."""

    async def work() -> None:
        async with caller(tenant) as ctx:
            made = await intakes.put(ctx, name, Intake(Topic(broker, topic), tuple(type_ or ())))
        say(IntakeView.of(made), f"intake {name}, version {made.channel.version}")

    run(work)


@app.command("list")
def listing(tenant: Of = None) -> None:
    """All intakes of the tenant."""

    async def work() -> None:
        async with caller(tenant) as ctx:
            found: list[Standing] = []
            while page := await intakes.page(ctx, found[-1].channel.name if found else "", MOST):
                found += page
        table = Table("name", "version", "broker", "topic", "types", "taken", "waiting", "standing")
        for channel, intake, at in found:
            source = intake.source
            row = (channel.name, str(channel.version), source.broker, source.topic, ",".join(intake.types))
            counts = ("", "") if at is None else (str(at.taken), "" if at.waiting is None else str(at.waiting))
            table.add_row(*row, *counts, _standing(channel.paused_at, at))
        answer([IntakeView.of(one) for one in found], lambda: out.print(table))

    run(work)


@app.command()
def show(name: str, tenant: Of = None) -> None:
    """An intake, and how far it has come."""

    async def work() -> None:
        async with caller(tenant) as ctx:
            _answer(await intakes.find(ctx, name))

    run(work)


@app.command()
def pause(name: str, tenant: Of = None) -> None:
    """Leave what comes in the topic until it is resumed."""

    async def work() -> None:
        async with caller(tenant) as ctx:
            _answer(await intakes.pause(ctx, name, paused=True))

    run(work)


@app.command()
def resume(name: str, tenant: Of = None) -> None:
    """Go on with what has come meanwhile."""

    async def work() -> None:
        async with caller(tenant) as ctx:
            _answer(await intakes.pause(ctx, name, paused=False))

    run(work)


@app.command()
def remove(name: str, tenant: Of = None) -> None:
    """Take no more; what lies in the topic stays there."""

    async def work() -> None:
        async with caller(tenant) as ctx:
            gone = await intakes.remove(ctx, name)
        say(IntakeView.of(gone), f"intake {name} is gone")

    run(work)


@parking.command("list")
def waiting(tenant: Of = None) -> None:
    """Messages that nothing could be made of, oldest first."""

    async def work() -> None:
        async with caller(tenant) as ctx:
            found: list[Parked] = []
            while page := await messages.page(ctx, found[-1].id if found else None, MOST):
                found += page
        table = Table("id", "parked (UTC)", "intake", "place", "code", "reason")
        for one in found:
            id_ = public(Prefix.PARKED, one.id)
            table.add_row(id_, f"{one.at:%Y-%m-%d %H:%M:%S}", one.intake, one.place, one.code, one.reason)
        answer([ParkedView.of(one) for one in found], lambda: out.print(table))

    run(work)


@parking.command()
def replay(message: str, tenant: Of = None) -> None:
    """Do now what a message says; where that is still refused, it stays."""

    async def work() -> None:
        async with caller(tenant) as ctx:
            done = await messages.replay(ctx, private(Prefix.PARKED, message))
        say(ParkedView.of(done), f"{message} is done")

    run(work)


@parking.command()
def drop(message: str, tenant: Of = None) -> None:
    """A message is not wanted any more."""

    async def work() -> None:
        async with caller(tenant) as ctx:
            gone = await messages.drop(ctx, private(Prefix.PARKED, message))
        say(ParkedView.of(gone), f"{message} is dropped")

    run(work)


def _answer(one: Standing) -> None:
    channel, intake, at = one
    come = "nothing taken yet" if at is None else f"{at.taken} messages taken, {at.parked} of them parked"
    left = "" if at is None or at.waiting is None else f", {at.waiting} waited at {at.looked_at:%Y-%m-%d %H:%M:%S} UTC"
    where = f"{intake.source.broker}/{intake.source.topic}"
    say(IntakeView.of(one), f"{channel.name} from {where}: {come}{left}; {_standing(channel.paused_at, at)}")


def _standing(paused_at: datetime | None, at: Position | None) -> str:
    if paused_at is not None:
        return f"paused since {paused_at:%Y-%m-%d %H:%M:%S} UTC"
    return "goes on" if at is None or at.error is None else f"it waits: {at.error}"
