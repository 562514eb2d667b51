"""Writes the messages of alerts: what is to be sent to which channel, or would have been without a silence."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

import msgspec

from horae.domain.alerts.alerts import Alert, MessageState
from horae.domain.alerts.kinds import AlertKind
from horae.domain.alerts.messages import AlertMessage, AlertStatus, message_id
from horae.domain.alerts.silences import silent_until
from horae.domain.ids import Prefix, public
from horae.runtime.telemetry import log
from horae.store.alerts import alerts, messages
from horae.store.tx import Tx
from horae.upkeep.alert_rules import TenantRules


class AlertPages(NamedTuple):
    """The addresses that a deployment publishes: of its console, and of the documentation with the runbooks."""

    console_url: str | None = None
    runbook_url: str | None = None

    def link(self, alert: str) -> str | None:
        """The page of an alert in the console."""
        return None if self.console_url is None else f"{self.console_url}/alerts/{alert}"

    def runbook(self, kind: AlertKind) -> str | None:
        """The page that says what to do about a kind of alert."""
        return None if self.runbook_url is None else f"{self.runbook_url}/{kind.runbook_page}"


NO_PAGES: Final = AlertPages()


class MessageWriter:
    """Writes messages in the transaction of their alerts."""

    def __init__(self, pages: AlertPages) -> None:
        self._pages = pages

    async def write(
        self,
        tx: Tx,
        cell: str,
        tenants: dict[UUID, TenantRules],
        unsent: Iterable[Alert],
        resolved: Iterable[Alert],
    ) -> None:
        """Write the messages of alerts that are due, and of alerts that were just resolved.

        1. Within a silence a message is written and not sent; the next one is due at the end of the silence.
        2. An alert that sent nothing sends nothing when it is resolved, either.
        3. A resolved message is sent in a silence, too: it closes what the first message opened.
        """
        rows: list[dict[str, Any]] = []
        marks: list[dict[str, Any]] = []
        for alert in unsent:
            if (tenant := tenants.get(alert.tenant_id)) is None:
                continue  # it has no channel now
            quiet = silent_until(tenant.silences, alert.kind, alert.watched_job, tx.now)
            announced = alert.announced or quiet is None
            numbered = msgspec.structs.replace(alert, sequence=alert.sequence + 1, announced=announced)
            if numbered.sequence == 1:
                log.info("alert.opened", kind=alert.kind, job=alert.job, cell=cell, silenced=quiet is not None)
            repeated = tx.now + timedelta(seconds=alert.repeat_after_s) if alert.repeat_after_s else None
            rows += self._rows(cell, tenant, numbered, tx.now, quiet)
            marks.append(_mark(numbered, quiet or repeated))
        for alert in resolved:
            log.info("alert.resolved", kind=alert.kind, job=alert.job, cell=cell)
            tenant = tenants.get(alert.tenant_id)
            if alert.announced and tenant is not None:
                numbered = msgspec.structs.replace(alert, sequence=alert.sequence + 1)
                rows += self._rows(cell, tenant, numbered, tx.now)
                marks.append(_mark(numbered, None))
        await messages.write(tx, rows)
        await alerts.mark_messaged(tx, marks)

    def _rows(
        self, cell: str, tenant: TenantRules, alert: Alert, now: datetime, quiet: datetime | None = None
    ) -> list[dict[str, Any]]:
        body = msgspec.to_builtins(self._message(cell, tenant.name, alert))
        same = {
            "alert_id": str(alert.id),
            "sequence": alert.sequence,
            "tenant_id": str(alert.tenant_id),
            "state": MessageState.PENDING if quiet is None else MessageState.SILENCED,
            "body": body,
            "created_at": now.isoformat(),
            "next_try_at": now.isoformat() if quiet is None else None,
        }
        return [{**same, "channel": channel} for channel in alert.channels]

    def _message(self, cell: str, tenant: str, alert: Alert) -> AlertMessage:
        key = public(Prefix.ALERT, alert.id)
        status = AlertStatus.FIRING if alert.resolved_at is None else AlertStatus.RESOLVED
        return AlertMessage(
            id=message_id(key, alert.opened_at, status, alert.sequence),
            group_key=key,
            status=status,
            kind=alert.kind,
            severity=alert.severity,
            tenant=tenant,
            opened_at=alert.opened_at,
            reason=alert.reason,
            job=alert.job,
            owner=alert.owner,
            count=alert.count,
            resolved_at=alert.resolved_at,
            link=self._pages.link(key),
            runbook=alert.runbook or self._pages.runbook(alert.kind),
            extra={"cell": cell},
        )


def _mark(alert: Alert, next_message_at: datetime | None) -> dict[str, Any]:
    return {
        "id": str(alert.id),
        "sequence": alert.sequence,
        "announced": alert.announced,
        "next_message_at": None if next_message_at is None else next_message_at.isoformat(),
    }
