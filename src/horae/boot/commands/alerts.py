"""`horae alert …`: what is wrong, and who takes care of it."""

from typing import Annotated

import typer

from horae.boot.commands.job_refs import OnlyJob
from horae.boot.output import say
from horae.boot.remote import remote
from horae.boot.tables import answer_rows
from horae.boot.times import moment
from horae.boot.verbs import Verbs
from horae.domain.alerts.alerts import AlertState
from horae.domain.alerts.kinds import AlertKind
from horae_client.asked import alerts as asked

app = Verbs(no_args_is_help=True)


@app.command("list")
async def list_(
    state: Annotated[AlertState | None, typer.Option(help="Only alerts in this state.")] = None,
    kind: Annotated[AlertKind | None, typer.Option(help="Only alerts of this kind.")] = None,
    job: OnlyJob = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Maximum number of alerts.")] = 50,
) -> None:
    """List the alerts, newest first."""
    async with remote() as api:
        found = await api.items(asked.alerts(state, kind, job), limit)
    rows = [(one.id, one.state, one.kind, one.job, one.count, moment(one.opened_at), one.reason) for one in found.value]
    columns = ("id", "state", "kind", "job", "count", "opened (UTC)", "reason")
    empty = "no alert matches" if state or kind or job else "there are no alerts"
    answer_rows(found.facts, columns, rows, empty=empty, least=("count", "opened (UTC)", "reason"), wraps=("reason",))


@app.command()
async def show(alert: str) -> None:
    """Show an alert and its messages."""
    async with remote() as api:
        reply = await api.ask(asked.alert(alert))
    one = reply.value
    rows = [
        (
            f"{row.sequence} {row.status}",
            row.channel,
            row.state,
            row.attempts,
            moment(row.created_at),
            moment(row.sent_at),
            row.error,
        )
        for row in one.messages or ()
    ]
    columns = ("message", "channel", "state", "attempts", "written (UTC)", "sent (UTC)", "error")
    title = f"{one.state}: {one.kind} of {one.job or 'the tenant'}, {one.count}: {one.reason}"
    least = ("attempts", "written (UTC)")
    answer_rows(reply.facts, columns, rows, empty="no message was sent", least=least, wraps=("error",), title=title)


@app.command()
async def acknowledge(alert: str) -> None:
    """Acknowledge an open alert: it is not repeated any more."""
    async with remote() as api:
        reply = await api.ask(asked.acknowledge(alert))
    say(reply.facts, f"alert {alert} is acknowledged by {reply.value.acknowledged_by}")
