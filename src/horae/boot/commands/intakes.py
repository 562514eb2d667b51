"""`horae intake …` and `horae parked-message …`: schedule changes that arrive by topics."""

from typing import Annotated

import typer

from horae.boot.output import say
from horae.boot.remote import Reply, remote
from horae.boot.tables import answer_rows
from horae.boot.times import moment
from horae.boot.verbs import Verbs
from horae_client.asked import events as asked
from horae_client.models import Intake

app = Verbs(no_args_is_help=True)
parking = Verbs(no_args_is_help=True)


@app.command()
async def put(
    name: str,
    broker: Annotated[str, typer.Option(help="A broker of this deployment, by its name.")],
    topic: Annotated[str, typer.Option(help="The topic, subject or queue there.")],
    type_: Annotated[list[str] | None, typer.Option("--type", help="Only tasks of this type.")] = None,
) -> None:
    """Create or change an intake, which takes schedule changes from a topic."""
    source = {"kind": "topic", "broker": broker, "topic": topic}
    async with remote() as api:
        made = await api.ask(asked.put_intake(name, source, type_ or ()))
    say(made.facts, f"intake {name}, version {made.value.version}")


@app.command("list")
async def listing() -> None:
    """List the intakes of the tenant."""
    async with remote() as api:
        found = await api.items(asked.intakes())
    rows = [
        (
            one.name,
            one.version,
            one.source["broker"],
            one.source["topic"],
            ",".join(one.types),
            None if one.position is None else one.position.taken,
            None if one.position is None else one.position.waiting,
            _status_text(one),
        )
        for one in found.value
    ]
    columns = ("name", "version", "broker", "topic", "types", "taken", "waiting", "status")
    least = ("version", "taken", "types", "broker")
    answer_rows(found.facts, columns, rows, empty="there are no intakes", least=least, wraps=("types", "status"))


@app.command()
async def show(name: str) -> None:
    """Show an intake and its progress."""
    async with remote() as api:
        _answer(await api.ask(asked.intake(name)))


@app.command()
async def pause(name: str) -> None:
    """Pause an intake: messages stay in the topic."""
    async with remote() as api:
        _answer(await api.ask(asked.intake_verb(name, "pause")))


@app.command()
async def resume(name: str) -> None:
    """Resume an intake; it continues with the messages that arrived meanwhile."""
    async with remote() as api:
        _answer(await api.ask(asked.intake_verb(name, "resume")))


@app.command()
async def remove(name: str) -> None:
    """Remove an intake; messages stay in the topic."""
    async with remote() as api:
        gone = await api.ask(asked.remove_intake(name))
    say(gone.facts, f"intake {name} is gone")


@parking.command("list")
async def waiting() -> None:
    """List messages that could not be processed, oldest first."""
    async with remote() as api:
        found = await api.items(asked.parked_messages())
    rows = [(one.id, moment(one.at), one.intake, one.place, one.code, one.reason) for one in found.value]
    columns = ("id", "parked (UTC)", "intake", "place", "code", "reason")
    least = ("place", "parked (UTC)", "code")
    answer_rows(found.facts, columns, rows, empty="no message is parked", least=least, wraps=("reason",))


@parking.command()
async def replay(message: str) -> None:
    """Process a parked message again; if it is still refused, it stays parked."""
    async with remote() as api:
        done = await api.ask(asked.replay_parked(message))
    say(done.facts, f"{message} is done")


@parking.command()
async def drop(message: str) -> None:
    """Delete a parked message."""
    async with remote() as api:
        gone = await api.ask(asked.drop_parked(message))
    say(gone.facts, f"{message} is dropped")


def _answer(reply: Reply[Intake]) -> None:
    one = reply.value
    at = one.position
    come = "nothing taken yet" if at is None else f"{at.taken} messages taken, {at.parked} of them parked"
    left = "" if at is None or at.waiting is None else f", {at.waiting} waited at {moment(at.looked_at)} UTC"
    where = f"{one.source['broker']}/{one.source['topic']}"
    say(reply.facts, f"{one.name} from {where}: {come}{left}; {_status_text(one)}")


def _status_text(one: Intake) -> str:
    if one.paused_at is not None:
        return f"paused since {moment(one.paused_at)} UTC"
    return "goes on" if one.position is None or one.position.error is None else f"it waits: {one.position.error}"
