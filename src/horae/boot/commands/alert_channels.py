"""`horae alert-channel …`, `horae alert-rule …` and `horae silence …`."""

import asyncio
from datetime import datetime, timedelta
from typing import Annotated, Any, Final

import msgspec
import typer
from rich.table import Table

from horae.api.models.alert_channels import AlertChannelView, ChannelTestView
from horae.api.models.alerts import AlertRuleView, SilenceView
from horae.boot.commands.schedules import moment
from horae.boot.output import answer, say
from horae.boot.session import PAGE, all_pages, caller, out
from horae.boot.verbs import Verbs
from horae.domain.alerts.alerts import MessageState
from horae.domain.alerts.channels import AlertChannel, AlertLanguage
from horae.domain.alerts.kinds import AlertKind, AlertSeverity
from horae.domain.alerts.rules import AlertRule
from horae.domain.alerts.silences import Silence
from horae.domain.errors import Invalid
from horae.service.alerts import channels

app = Verbs(no_args_is_help=True)
rules = Verbs(no_args_is_help=True)
silences = Verbs(no_args_is_help=True)
Of = Annotated[str | None, typer.Option("--tenant", help="The tenant; the configured one if omitted.")]
FORM = ["%Y-%m-%dT%H:%M:%S%z"]
TEST_WAIT_S: Final = 20.0
"""Seconds that `test` waits for a node to send the message."""
TEST_LOOK_S: Final = 0.5
Job = Annotated[str | None, typer.Option(help="Only this job.")]
Label = Annotated[list[str] | None, typer.Option(help="Only jobs with this label, as key=value.")]
Owner = Annotated[str | None, typer.Option(help="Only jobs of this owner.")]


@app.command()
async def put(
    name: str,
    kind: Annotated[str, typer.Option(help="feishu, dingtalk, wecom, slack, pagerduty, alertmanager, webhook, email.")],
    url_secret: Annotated[str | None, typer.Option(help="The secret with the hook's URL.")] = None,
    url: Annotated[str | None, typer.Option(help="The URL, where it is no secret.")] = None,
    signing: Annotated[str | None, typer.Option(help="The secret that signs messages.")] = None,
    routing_key: Annotated[str | None, typer.Option(help="The secret with PagerDuty's integration key.")] = None,
    bearer: Annotated[str | None, typer.Option(help="The secret with a bearer token.")] = None,
    to: Annotated[list[str] | None, typer.Option(help="An e-mail address; may be given several times.")] = None,
    language: Annotated[AlertLanguage, typer.Option(help="The language of the texts.")] = AlertLanguage.EN,
    tenant: Of = None,
) -> None:
    """Create or change an alert channel. One named `default` turns on the default rules."""
    facts = {
        "kind": kind,
        "url_secret": url_secret,
        "url": url,
        "signing": signing,
        "routing_key": routing_key,
        "bearer": bearer,
        "to": to,
        "language": language,
    }
    given = {field: value for field, value in facts.items() if value is not None}
    async with caller(tenant) as ctx:
        made = await channels.put_channel(ctx, name, _converted(given))
    say(AlertChannelView.of(made), f"alert channel {name}, version {made.channel.version}")


def _converted(given: dict[str, Any]) -> AlertChannel:
    try:
        found: AlertChannel = msgspec.convert(given, AlertChannel)
    except msgspec.ValidationError as error:
        raise Invalid(f"this is no alert channel: {error}") from error
    return found


@app.command("list")
async def list_channels(tenant: Of = None) -> None:
    """List the alert channels of the tenant."""
    async with caller(tenant) as ctx:
        found = await all_pages(lambda last: channels.page_channels(ctx, last.channel.name if last else "", PAGE))
    views = [AlertChannelView.of(one) for one in found]
    table = Table("name", "kind", "language", "version")
    for one in views:
        table.add_row(one.name, one.channel.kind, one.channel.language, str(one.version))
    answer(views, lambda: out.print(table))


@app.command()
async def remove(name: str, tenant: Of = None) -> None:
    """Remove an alert channel."""
    async with caller(tenant) as ctx:
        gone = await channels.remove_channel(ctx, name)
    say(AlertChannelView.of(gone), f"alert channel {name} is gone")


@app.command("test")
async def send_test(name: str, tenant: Of = None) -> None:
    """Send a test to a channel, and wait until a node has sent it."""
    async with caller(tenant) as ctx:
        tried = await channels.test_channel(ctx, name)
        looks = int(TEST_WAIT_S / TEST_LOOK_S)
        while tried.message.state == MessageState.PENDING and tried.message.error is None and looks:
            await asyncio.sleep(TEST_LOOK_S)
            tried, looks = await channels.show_test(ctx, tried.id), looks - 1
    row = tried.message
    why = f": {row.error}" if row.error else "" if row.attempts else ": no node has sent it yet"
    say(ChannelTestView.of(tried), f"the test is {row.state}{why if row.state != MessageState.SENT else ''}")


@rules.command("put")
async def put_rule(
    name: str,
    kind: Annotated[AlertKind, typer.Option(help="What the rule is about.")],
    job: Job = None,
    label: Label = None,
    owner: Owner = None,
    threshold: Annotated[
        float | None, typer.Option(help="From where on it is a fault, in the unit of its kind.")
    ] = None,
    channel: Annotated[list[str] | None, typer.Option(help="A channel; may be given several times.")] = None,
    severity: Annotated[
        AlertSeverity | None, typer.Option(help="How serious it is; the kind's own if omitted.")
    ] = None,
    whole_tenant: Annotated[bool, typer.Option("--whole-tenant", help="One alert for all jobs together.")] = False,
    repeat_after: Annotated[int, typer.Option(help="Seconds until an open alert is sent again; 0: never.")] = 3600,
    off: Annotated[bool, typer.Option("--off", help="Switch the rule off, and the default rule of its kind.")] = False,
    tenant: Of = None,
) -> None:
    """Create or change an alert rule. Without a job, label or owner it replaces the default rule of its kind."""
    wanted = AlertRule(
        kind=kind,
        job=job,
        labels=_labels(label),
        owner=owner,
        threshold=threshold,
        channels=tuple(channel or ()),
        severity=severity,
        group_by="tenant" if whole_tenant else "job",
        repeat_after=repeat_after,
        enabled=not off,
    )
    async with caller(tenant) as ctx:
        made = await channels.put_rule(ctx, name, wanted)
    say(AlertRuleView.of(made), f"alert rule {name}, version {made.channel.version}")


@rules.command("list")
async def list_rules(tenant: Of = None) -> None:
    """List the alert rules of the tenant. Default rules are not listed."""
    async with caller(tenant) as ctx:
        found = await all_pages(lambda last: channels.page_rules(ctx, last.channel.name if last else "", PAGE))
    views = [AlertRuleView.of(one) for one in found]
    table = Table("name", "kind", "job", "labels", "owner", "threshold", "channels", "enabled")
    for one in views:
        labels = ",".join(f"{key}={value}" for key, value in one.labels.items())
        limit = "" if one.threshold is None else f"{one.threshold:g}"
        facts = (one.job or "", labels, one.owner or "", limit, ",".join(one.channels), "yes" if one.enabled else "no")
        table.add_row(one.name, one.kind, *facts)
    answer(views, lambda: out.print(table))


@rules.command("remove")
async def remove_rule(name: str, tenant: Of = None) -> None:
    """Remove an alert rule."""
    async with caller(tenant) as ctx:
        gone = await channels.remove_rule(ctx, name)
    say(AlertRuleView.of(gone), f"alert rule {name} is gone")


@silences.command("put")
async def put_silence(
    name: str,
    minutes: Annotated[int | None, typer.Option(min=1, help="How long, in minutes from the start.")] = None,
    starts_at: Annotated[datetime | None, typer.Option(formats=FORM, help="From when, with an offset; now.")] = None,
    ends_at: Annotated[datetime | None, typer.Option(formats=FORM, help="Until when, with an offset.")] = None,
    kind: Annotated[list[AlertKind] | None, typer.Option(help="Only this kind; may be given several times.")] = None,
    job: Job = None,
    label: Label = None,
    owner: Owner = None,
    comment: Annotated[str, typer.Option(help="Why.")] = "",
    tenant: Of = None,
) -> None:
    """Create or change a silence: alerts are recorded and not sent."""
    if (minutes is None) == (ends_at is None):
        raise Invalid("name --minutes or --ends-at")
    async with caller(tenant) as ctx:
        begins = starts_at or ctx.now()
        ends = ends_at or begins + timedelta(minutes=minutes or 0)
        wanted = Silence(
            starts_at=begins,
            ends_at=ends,
            kinds=tuple(kind or ()),
            job=job,
            labels=_labels(label),
            owner=owner,
            comment=comment,
        )
        made = await channels.put_silence(ctx, name, wanted)
    say(SilenceView.of(made), f"silence {name} until {ends:%Y-%m-%d %H:%M:%S} UTC")


@silences.command("list")
async def list_silences(tenant: Of = None) -> None:
    """List the silences of the tenant."""
    async with caller(tenant) as ctx:
        found = await all_pages(lambda last: channels.page_silences(ctx, last.channel.name if last else "", PAGE))
    views = [SilenceView.of(one) for one in found]
    table = Table("name", "from (UTC)", "until (UTC)", "kinds", "job", "by", "comment")
    for one in views:
        times = moment(one.starts_at), moment(one.ends_at)
        table.add_row(one.name, *times, ",".join(one.kinds), one.job or "", one.changed_by, one.comment)
    answer(views, lambda: out.print(table))


@silences.command("remove")
async def remove_silence(name: str, tenant: Of = None) -> None:
    """Remove a silence."""
    async with caller(tenant) as ctx:
        gone = await channels.remove_silence(ctx, name)
    say(SilenceView.of(gone), f"silence {name} is gone")


def _labels(given: list[str] | None) -> dict[str, str]:
    return dict(one.partition("=")[::2] for one in given or ())
