"""`horae intake …` and `horae parked …`: schedule changes that come by topics."""

from typing import Annotated

import typer
from rich.table import Table

from horae.api.models.intakes import IntakeView, ParkedView
from horae.boot.session import caller, out, run
from horae.boot.telling import Verbs, answer, say
from horae.domain.channels import Topic
from horae.domain.ids import Prefix, private, public
from horae.domain.intakes import Intake, Parked
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
        table = Table("name", "version", "broker", "topic", "types")
        for channel, intake in found:
            source = intake.source
            table.add_row(channel.name, str(channel.version), source.broker, source.topic, ",".join(intake.types))
        answer([IntakeView.of(one) for one in found], lambda: out.print(table))

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
