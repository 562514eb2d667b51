"""`horae subscription …`: which events are sent to which sink."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

import typer

from horae.boot.output import say
from horae.boot.remote import Reply, remote
from horae.boot.tables import answer_rows
from horae.boot.times import MOMENT, moment
from horae.boot.verbs import Verbs
from horae.domain.errors import Invalid
from horae_client.asked import events as asked
from horae_client.models import Subscription

app = Verbs(no_args_is_help=True)
Since = Annotated[datetime | None, typer.Option(formats=[MOMENT], help="From when, with an offset; 15 minutes ago.")]
Until = Annotated[datetime | None, typer.Option(formats=[MOMENT], help="Until when, with an offset; now.")]


@app.command()
async def put(
    name: str,
    broker: Annotated[str | None, typer.Option(help="A broker of this deployment, by its name.")] = None,
    topic: Annotated[str | None, typer.Option(help="The topic, subject or routing key there.")] = None,
    webhook: Annotated[str | None, typer.Option(help="A URL that takes batches of events.")] = None,
    signing: Annotated[str | None, typer.Option(help="The secret that signs them.")] = None,
    event: Annotated[list[str] | None, typer.Option(help="Only these: a name, or a group such as TASK_*.")] = None,
    label: Annotated[list[str] | None, typer.Option(help="Only of jobs with this label, as key=value.")] = None,
) -> None:
    """Create or change a subscription: send events from now on to a broker's topic or a webhook."""
    labels = dict(one.partition("=")[::2] for one in label or ())
    sink = _sink(broker, topic, webhook, signing)
    async with remote() as api:
        made = await api.ask(asked.put_subscription(name, sink, event or (), labels or None))
    say(made.facts, f"subscription {name}, version {made.value.version}")


def _sink(broker: str | None, topic: str | None, webhook: str | None, signing: str | None) -> dict[str, str]:
    if broker and topic and not webhook:
        return {"kind": "topic", "broker": broker, "topic": topic}
    if webhook and signing and not broker:
        return {"kind": "webhook", "url": webhook, "signing": signing}
    raise Invalid("name --broker and --topic, or --webhook and --signing")


@app.command("list")
async def listing() -> None:
    """List the subscriptions of the tenant."""
    async with remote() as api:
        found = await api.items(asked.subscriptions())
    rows = [
        (
            one.name,
            one.version,
            _where(one.sink),
            ",".join(one.events),
            ",".join(f"{key}={value}" for key, value in one.labels.items()),
        )
        for one in found.value
    ]
    columns = ("name", "version", "sink", "events", "labels")
    least = ("version", "labels", "events")
    answer_rows(found.facts, columns, rows, empty="there are no subscriptions", least=least, wraps=("sink", "events"))


@app.command()
async def show(name: str) -> None:
    """Show a subscription and its progress."""
    async with remote() as api:
        _answer(await api.ask(asked.subscription(name)))


@app.command()
async def pause(name: str) -> None:
    """Pause a subscription: it sends nothing and keeps its position."""
    async with remote() as api:
        _answer(await api.ask(asked.subscription_verb(name, "pause")))


@app.command()
async def resume(name: str) -> None:
    """Resume a subscription at its position: events that happened meanwhile are sent now."""
    async with remote() as api:
        _answer(await api.ask(asked.subscription_verb(name, "resume")))


@app.command()
async def remove(name: str) -> None:
    """Remove a subscription."""
    async with remote() as api:
        gone = await api.ask(asked.remove_subscription(name))
    say(gone.facts, f"subscription {name} is gone")


@app.command()
async def replay(name: str, since: Since = None, until: Until = None) -> None:
    """Send the events of a span of time again; by default those of the last 15 minutes."""
    async with remote() as api:
        _answer(await api.ask(asked.replay_events(name, since, until)))


def _answer(reply: Reply[Subscription]) -> None:
    one, text = reply.value, ""
    if one.progress is not None:
        until = f"{moment(one.progress.delivered_until)} UTC" if one.progress.delivered_until else "nothing"
        text = f": {one.progress.sent} events sent, everything until {until}"
        text += f"; it waits: {one.progress.error}" if one.progress.error else ""
    if one.paused_at is not None:
        text += f"; paused since {moment(one.paused_at)} UTC"
    say(reply.facts, f"{one.name} to {_where(one.sink)}{text}")


def _where(sink: Mapping[str, Any]) -> str:
    return str(sink.get("url") or f"{sink.get('broker')}/{sink.get('topic')}")
