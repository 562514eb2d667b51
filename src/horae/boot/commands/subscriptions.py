"""`horae subscription …`: who is told of what happens."""

from datetime import datetime
from typing import Annotated

import typer
from rich.table import Table

from horae.api.models.subscriptions import SubscriptionView
from horae.boot.session import caller, out, run
from horae.boot.telling import Verbs, answer, say
from horae.domain.channels import Sink, Subscription, Topic, Webhook
from horae.domain.errors import Invalid
from horae.service import subscriptions
from horae.service.subscriptions import Standing

app = Verbs(no_args_is_help=True)
Of = Annotated[str | None, typer.Option("--tenant", help="Whose; the configured tenant's where omitted.")]
FORM = ["%Y-%m-%dT%H:%M:%S%z"]
Since = Annotated[datetime | None, typer.Option(formats=FORM, help="From when, with an offset; 15 minutes ago.")]
Until = Annotated[datetime | None, typer.Option(formats=FORM, help="Until when, with an offset; now.")]
MOST = 200


@app.command()
def put(
    name: str,
    broker: Annotated[str | None, typer.Option(help="A broker of this deployment, by its name.")] = None,
    topic: Annotated[str | None, typer.Option(help="The topic, subject or routing key there.")] = None,
    webhook: Annotated[str | None, typer.Option(help="A URL that takes batches of events.")] = None,
    signing: Annotated[str | None, typer.Option(help="The secret that signs them.")] = None,
    event: Annotated[list[str] | None, typer.Option(help="Only these: a name, or a group such as TASK_*.")] = None,
    label: Annotated[list[str] | None, typer.Option(help="Only of jobs with this label, as key=value.")] = None,
    tenant: Of = None,
) -> None:
    """Tell what happens from now on, to a broker's topic or a webhook."""
    labels = dict(one.partition("=")[::2] for one in label or ())

    async def work() -> None:
        wanted = Subscription(_sink(broker, topic, webhook, signing), tuple(event or ()), labels)
        async with caller(tenant) as ctx:
            made = await subscriptions.put(ctx, name, wanted)
        say(SubscriptionView.of(made), f"subscription {name}, version {made.channel.version}")

    run(work)


def _sink(broker: str | None, topic: str | None, webhook: str | None, signing: str | None) -> Sink:
    if broker and topic and not webhook:
        return Topic(broker, topic)
    if webhook and signing and not broker:
        return Webhook(webhook, signing)
    raise Invalid("name --broker and --topic, or --webhook and --signing")


@app.command("list")
def listing(tenant: Of = None) -> None:
    """All subscriptions of the tenant."""

    async def work() -> None:
        async with caller(tenant) as ctx:
            found: list[Standing] = []
            while page := await subscriptions.page(ctx, found[-1].channel.name if found else "", MOST):
                found += page
        table = Table("name", "version", "sink", "events", "labels")
        for one in found:
            wanted = one.subscription
            labels = ",".join(f"{key}={value}" for key, value in wanted.labels.items())
            table.add_row(
                one.channel.name, str(one.channel.version), _where(wanted.sink), ",".join(wanted.events), labels
            )
        answer([SubscriptionView.of(one) for one in found], lambda: out.print(table))

    run(work)


@app.command()
def show(name: str, tenant: Of = None) -> None:
    """A subscription, and how far it was told."""

    async def work() -> None:
        async with caller(tenant) as ctx:
            _answer(await subscriptions.show(ctx, name))

    run(work)


@app.command()
def pause(name: str, tenant: Of = None) -> None:
    """Tell nothing until it is resumed; its place is kept."""

    async def work() -> None:
        async with caller(tenant) as ctx:
            _answer(await subscriptions.pause(ctx, name, paused=True))

    run(work)


@app.command()
def resume(name: str, tenant: Of = None) -> None:
    """Go on where it stood: what happened meanwhile is told now."""

    async def work() -> None:
        async with caller(tenant) as ctx:
            _answer(await subscriptions.pause(ctx, name, paused=False))

    run(work)


@app.command()
def remove(name: str, tenant: Of = None) -> None:
    """Tell no more."""

    async def work() -> None:
        async with caller(tenant) as ctx:
            gone = await subscriptions.remove(ctx, name)
        say(SubscriptionView.of(gone), f"subscription {name} is gone")

    run(work)


@app.command()
def replay(name: str, since: Since = None, until: Until = None, tenant: Of = None) -> None:
    """Tell again what happened in a span of time: from 15 minutes ago to now, where nothing is said."""

    async def work() -> None:
        async with caller(tenant) as ctx:
            _answer(await subscriptions.replay(ctx, name, since, until))

    run(work)


def _answer(standing: Standing) -> None:
    progress = standing.progress
    assert progress is not None
    until = "nothing" if progress.told_until is None else f"{progress.told_until:%Y-%m-%d %H:%M:%S} UTC"
    wrong = f"; it waits: {progress.error}" if progress.error else ""
    if (since := standing.channel.paused_at) is not None:
        wrong += f"; paused since {since:%Y-%m-%d %H:%M:%S} UTC"
    where = _where(standing.subscription.sink)
    text = f"{standing.channel.name} to {where}: {progress.sent} events told, everything until {until}{wrong}"
    say(SubscriptionView.of(standing), text)


def _where(sink: Sink) -> str:
    return sink.url if isinstance(sink, Webhook) else f"{sink.broker}/{sink.topic}"
