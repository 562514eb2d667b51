"""`horae subscription …`: which events are sent to which sink."""

from datetime import datetime
from typing import Annotated

import typer
from rich.table import Table

from horae.api.models.subscriptions import SubscriptionView
from horae.boot.output import answer, say
from horae.boot.session import PAGE, all_pages, caller, out
from horae.boot.verbs import Verbs
from horae.domain.errors import Invalid
from horae.domain.events.channels import Sink, Subscription, TopicAddress, WebhookAddress
from horae.service.events import subscriptions
from horae.service.events.subscriptions import SubscriptionDetail

app = Verbs(no_args_is_help=True)
Of = Annotated[str | None, typer.Option("--tenant", help="The tenant; the configured one if omitted.")]
FORM = ["%Y-%m-%dT%H:%M:%S%z"]
Since = Annotated[datetime | None, typer.Option(formats=FORM, help="From when, with an offset; 15 minutes ago.")]
Until = Annotated[datetime | None, typer.Option(formats=FORM, help="Until when, with an offset; now.")]


@app.command()
async def put(
    name: str,
    broker: Annotated[str | None, typer.Option(help="A broker of this deployment, by its name.")] = None,
    topic: Annotated[str | None, typer.Option(help="The topic, subject or routing key there.")] = None,
    webhook: Annotated[str | None, typer.Option(help="A URL that takes batches of events.")] = None,
    signing: Annotated[str | None, typer.Option(help="The secret that signs them.")] = None,
    event: Annotated[list[str] | None, typer.Option(help="Only these: a name, or a group such as TASK_*.")] = None,
    label: Annotated[list[str] | None, typer.Option(help="Only of jobs with this label, as key=value.")] = None,
    tenant: Of = None,
) -> None:
    """Create or change a subscription: send events from now on to a broker's topic or a webhook."""
    labels = dict(one.partition("=")[::2] for one in label or ())
    wanted = Subscription(_sink(broker, topic, webhook, signing), tuple(event or ()), labels)
    async with caller(tenant) as ctx:
        made = await subscriptions.put(ctx, name, wanted)
    say(SubscriptionView.of(made), f"subscription {name}, version {made.channel.version}")


def _sink(broker: str | None, topic: str | None, webhook: str | None, signing: str | None) -> Sink:
    if broker and topic and not webhook:
        return TopicAddress(broker, topic)
    if webhook and signing and not broker:
        return WebhookAddress(webhook, signing)
    raise Invalid("name --broker and --topic, or --webhook and --signing")


@app.command("list")
async def listing(tenant: Of = None) -> None:
    """List the subscriptions of the tenant."""
    async with caller(tenant) as ctx:
        found = await all_pages(lambda last: subscriptions.page(ctx, last.channel.name if last else "", PAGE))
    table = Table("name", "version", "sink", "events", "labels")
    for one in found:
        wanted = one.subscription
        labels = ",".join(f"{key}={value}" for key, value in wanted.labels.items())
        table.add_row(one.channel.name, str(one.channel.version), _where(wanted.sink), ",".join(wanted.events), labels)
    answer([SubscriptionView.of(one) for one in found], lambda: out.print(table))


@app.command()
async def show(name: str, tenant: Of = None) -> None:
    """Show a subscription and its progress."""
    async with caller(tenant) as ctx:
        _answer(await subscriptions.show(ctx, name))


@app.command()
async def pause(name: str, tenant: Of = None) -> None:
    """Pause a subscription: it sends nothing and keeps its position."""
    async with caller(tenant) as ctx:
        _answer(await subscriptions.pause(ctx, name, paused=True))


@app.command()
async def resume(name: str, tenant: Of = None) -> None:
    """Resume a subscription at its position: events that happened meanwhile are sent now."""
    async with caller(tenant) as ctx:
        _answer(await subscriptions.pause(ctx, name, paused=False))


@app.command()
async def remove(name: str, tenant: Of = None) -> None:
    """Remove a subscription."""
    async with caller(tenant) as ctx:
        gone = await subscriptions.remove(ctx, name)
    say(SubscriptionView.of(gone), f"subscription {name} is gone")


@app.command()
async def replay(name: str, since: Since = None, until: Until = None, tenant: Of = None) -> None:
    """Send the events of a span of time again; by default those of the last 15 minutes."""
    async with caller(tenant) as ctx:
        _answer(await subscriptions.replay(ctx, name, since, until))


def _answer(detail: SubscriptionDetail) -> None:
    progress = detail.progress
    assert progress is not None
    until = "nothing" if progress.delivered_until is None else f"{progress.delivered_until:%Y-%m-%d %H:%M:%S} UTC"
    wrong = f"; it waits: {progress.error}" if progress.error else ""
    if (since := detail.channel.paused_at) is not None:
        wrong += f"; paused since {since:%Y-%m-%d %H:%M:%S} UTC"
    where = _where(detail.subscription.sink)
    text = f"{detail.channel.name} to {where}: {progress.sent} events sent, everything until {until}{wrong}"
    say(SubscriptionView.of(detail), text)


def _where(sink: Sink) -> str:
    return sink.url if isinstance(sink, WebhookAddress) else f"{sink.broker}/{sink.topic}"
