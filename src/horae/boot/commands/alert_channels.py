"""`horae alert-channel …`, `horae alert-rule …` and `horae silence …`."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

import typer

from horae.boot.completion import complete_jobs
from horae.boot.output import say
from horae.boot.remote import remote
from horae.boot.tables import answer_rows
from horae.boot.times import MOMENT, moment
from horae.boot.verbs import Verbs
from horae.domain.alerts.alerts import MessageState
from horae.domain.alerts.channels import AlertLanguage
from horae.domain.alerts.kinds import AlertKind, AlertSeverity
from horae.domain.errors import Invalid
from horae_client.asked import alerts as asked
from horae_client.wire import said

app = Verbs(no_args_is_help=True)
rules = Verbs(no_args_is_help=True)
silences = Verbs(no_args_is_help=True)
FORM: Final = [MOMENT]
TEST_WAIT_S: Final = 20.0
"""Seconds that `test` waits for a node to send the message."""
TEST_LOOK_S: Final = 0.5
Job = Annotated[str | None, typer.Option(help="Only this job.", autocompletion=complete_jobs)]
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
) -> None:
    """Create or change an alert channel. One named `default` turns on the default rules."""
    channel = said(
        kind=kind,
        url_secret=url_secret,
        url=url,
        signing=signing,
        routing_key=routing_key,
        bearer=bearer,
        to=to,
        language=language,
    )
    async with remote() as api:
        made = await api.ask(asked.put_channel(name, channel))
    say(made.facts, f"alert channel {name}, version {made.value.version}")


@app.command("list")
async def list_channels() -> None:
    """List the alert channels of the tenant."""
    async with remote() as api:
        found = await api.items(asked.channels())
    rows = [(one.name, one.channel["kind"], one.channel["language"], one.version) for one in found.value]
    columns = ("name", "kind", "language", "version")
    answer_rows(found.facts, columns, rows, empty="there are no alert channels")


@app.command()
async def remove(name: str) -> None:
    """Remove an alert channel."""
    async with remote() as api:
        gone = await api.ask(asked.remove_channel(name))
    say(gone.facts, f"alert channel {name} is gone")


@app.command("test")
async def send_test(name: str) -> None:
    """Send a test to a channel, and wait until a node has sent it."""
    async with remote() as api:
        tried = await api.ask(asked.send_test(name))
        looks = int(TEST_WAIT_S / TEST_LOOK_S)
        while tried.value.state == MessageState.PENDING and tried.value.error is None and looks:
            await asyncio.sleep(TEST_LOOK_S)
            tried, looks = await api.ask(asked.sent_test(tried.value.id)), looks - 1
    row = tried.value
    why = f": {row.error}" if row.error else "" if row.attempts else ": no node has sent it yet"
    say(tried.facts, f"the test is {row.state}{why if row.state != MessageState.SENT else ''}")


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
) -> None:
    """Create or change an alert rule. Without a job, label or owner it replaces the default rule of its kind."""
    facts = {
        "job": job,
        "labels": _labels(label),
        "owner": owner,
        "threshold": threshold,
        "channels": channel or [],
        "severity": severity,
        "group_by": "tenant" if whole_tenant else "job",
        "repeat_after": repeat_after,
        "enabled": not off,
    }
    async with remote() as api:
        made = await api.ask(asked.put_rule(name, kind, facts))
    say(made.facts, f"alert rule {name}, version {made.value.version}")


@rules.command("list")
async def list_rules() -> None:
    """List the alert rules of the tenant. Default rules are not listed."""
    async with remote() as api:
        found = await api.items(asked.rules())
    rows = [
        (
            one.name,
            one.kind,
            one.job,
            ",".join(f"{key}={value}" for key, value in one.labels.items()),
            one.owner,
            None if one.threshold is None else f"{one.threshold:g}",
            ",".join(one.channels),
            "yes" if one.enabled else "no",
        )
        for one in found.value
    ]
    columns = ("name", "kind", "job", "labels", "owner", "threshold", "channels", "enabled")
    least = ("owner", "labels", "job", "threshold")
    answer_rows(found.facts, columns, rows, empty="there are no alert rules besides the default ones", least=least)


@rules.command("remove")
async def remove_rule(name: str) -> None:
    """Remove an alert rule."""
    async with remote() as api:
        gone = await api.ask(asked.remove_rule(name))
    say(gone.facts, f"alert rule {name} is gone")


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
) -> None:
    """Create or change a silence: alerts are recorded and not sent."""
    if (minutes is None) == (ends_at is None):
        raise Invalid("name --minutes or --ends-at")
    begins = starts_at or datetime.now(UTC)
    ends = ends_at or begins + timedelta(minutes=minutes or 0)
    facts = {
        "starts_at": begins,
        "ends_at": ends,
        "kinds": kind or [],
        "job": job,
        "labels": _labels(label),
        "owner": owner,
        "comment": comment,
    }
    async with remote() as api:
        made = await api.ask(asked.put_silence(name, facts))
    say(made.facts, f"silence {name} until {moment(made.value.ends_at)} UTC")


@silences.command("list")
async def list_silences() -> None:
    """List the silences of the tenant."""
    async with remote() as api:
        found = await api.items(asked.silences())
    rows = [
        (
            one.name,
            moment(one.starts_at),
            moment(one.ends_at),
            ",".join(one.kinds),
            one.job,
            one.changed_by,
            one.comment,
        )
        for one in found.value
    ]
    columns = ("name", "from (UTC)", "until (UTC)", "kinds", "job", "by", "comment")
    least = ("by", "from (UTC)", "kinds", "comment")
    answer_rows(found.facts, columns, rows, empty="there are no silences", least=least, wraps=("comment",))


@silences.command("remove")
async def remove_silence(name: str) -> None:
    """Remove a silence."""
    async with remote() as api:
        gone = await api.ask(asked.remove_silence(name))
    say(gone.facts, f"silence {name} is gone")


def _labels(given: list[str] | None) -> dict[str, str]:
    return dict(one.partition("=")[::2] for one in given or ())
