"""`horae alert …`: what is wrong, and who takes care of it."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

import typer
from rich.table import Table

from horae.api.models.alerts import AlertView
from horae.boot.commands.schedules import moment
from horae.boot.output import answer, say
from horae.boot.session import caller, out
from horae.boot.verbs import Verbs
from horae.domain.alerts.alerts import Alert, AlertFilter, AlertState
from horae.domain.alerts.kinds import AlertKind
from horae.domain.ids import Prefix, private
from horae.service.alerts import alerts
from horae.service.alerts.alerts import AlertDetail

app = Verbs(no_args_is_help=True)
Of = Annotated[str | None, typer.Option("--tenant", help="The tenant; the configured one if omitted.")]
PAGE = 200


@app.command("list")
async def list_(
    state: Annotated[AlertState | None, typer.Option(help="Only alerts in this state.")] = None,
    kind: Annotated[AlertKind | None, typer.Option(help="Only alerts of this kind.")] = None,
    job: Annotated[str | None, typer.Option(help="Only alerts of this job.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Maximum number of alerts.")] = 50,
    tenant: Of = None,
) -> None:
    """List the alerts, newest first."""
    found: list[Alert] = []
    async with caller(tenant) as ctx:
        place: tuple[datetime, UUID] | None = None
        while len(found) < limit:
            some = await alerts.page(ctx, AlertFilter(state, kind, job), place, min(PAGE, limit - len(found)))
            if not some:
                break
            found += some
            place = (some[-1].opened_at, some[-1].id)
    views = [AlertView.of(one) for one in found]
    table = Table("id", "state", "kind", "job", "count", "opened (UTC)", "reason")
    for one in views:
        table.add_row(one.id, one.state, one.kind, one.job or "", str(one.count), moment(one.opened_at), one.reason)
    answer(views, lambda: out.print(table))


@app.command()
async def show(alert: str, tenant: Of = None) -> None:
    """Show an alert and its messages."""
    async with caller(tenant) as ctx:
        _answer(await alerts.show(ctx, private(Prefix.ALERT, alert)))


@app.command()
async def acknowledge(alert: str, tenant: Of = None) -> None:
    """Acknowledge an open alert: it is not repeated any more."""
    async with caller(tenant) as ctx:
        done = await alerts.acknowledge(ctx, private(Prefix.ALERT, alert))
    say(AlertView.with_messages(done), f"alert {alert} is acknowledged by {done.alert.acknowledged_by}")


def _answer(detail: AlertDetail) -> None:
    one = detail.alert
    table = Table("message", "channel", "state", "attempts", "written (UTC)", "sent (UTC)", "error")
    for row in detail.messages:
        written, sent = moment(row.created_at), moment(row.sent_at)
        status = f"{row.sequence} {row.body['status']}"
        table.add_row(status, row.channel, row.state, str(row.attempts), written, sent, row.error or "")

    def print_alert() -> None:
        out.print(f"{one.state}: {one.kind} of {one.job or 'the tenant'}, {one.count}: {one.reason}")
        out.print(table)

    answer(AlertView.with_messages(detail), print_alert)
