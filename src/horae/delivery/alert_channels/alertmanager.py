"""Prometheus Alertmanager, API v2: the alert fires until `endsAt`, which the resolved message sets to its end.

Alertmanager identifies an alert by its labels, so they hold only what is the same in the firing and the resolved
message. It keeps alerts in memory: after its restart it knows the alerts that are sent again.

What it sends on may be read as markup by the next receiver, and it escapes nothing. So the annotations are harmless
here already, and no label has an angle bracket, with which Slack and WeCom mention people.
"""

from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec

from horae.delivery.alert_channels.markdown import harmless
from horae.delivery.alert_channels.requests import JSON, ChannelRequest, ChannelSecrets, check_status
from horae.delivery.http import HttpAnswer
from horae.domain.alerts.channels import AlertmanagerChannel
from horae.domain.alerts.messages import AlertMessage, AlertStatus
from horae.domain.alerts.texts import alert_text, safe_link

FIRES_FOR: Final = timedelta(days=7)
"""How long an alert fires where no resolved message comes. Without an end, Alertmanager resolves it after 5 minutes."""
TEST_FIRES_FOR: Final = timedelta(minutes=5)
PATH: Final = "/api/v2/alerts"
ANGLE_BRACKETS: Final = str.maketrans({"<": "＜", ">": "＞"})


def alertmanager_request(
    channel: AlertmanagerChannel, message: AlertMessage, secrets: ChannelSecrets, now_s: float
) -> ChannelRequest:
    """Return the request of a message."""
    headers = dict(JSON)
    if channel.bearer is not None:
        headers["Authorization"] = f"Bearer {secrets.text(channel.bearer, channel.url)}"
    alert = {
        "labels": _labels(message),
        "annotations": _annotations(channel, message),
        "startsAt": message.opened_at.isoformat(),
        "endsAt": _end(message, datetime.fromtimestamp(now_s, UTC)).isoformat(),
        "generatorURL": safe_link(message.link) or "",
    }
    return ChannelRequest(channel.url.rstrip("/") + PATH, headers, msgspec.json.encode([alert]))


def check_alertmanager(answer: HttpAnswer) -> None:
    """Raise unless Alertmanager took the alert."""
    check_status("Alertmanager", answer)


def _labels(message: AlertMessage) -> dict[str, str]:
    """Return the labels without empty ones, which Alertmanager drops."""
    known = {
        "alertname": str(message.kind),
        "severity": str(message.severity),
        "tenant": message.tenant,
        "horae_job": message.job,
        "owner": message.owner,
        "horae_label": message.label,
        "horae_group": message.group_key,
        "test": "true" if message.status == AlertStatus.TEST else None,
    }
    return {name: value.translate(ANGLE_BRACKETS) for name, value in known.items() if value}


def _annotations(channel: AlertmanagerChannel, message: AlertMessage) -> dict[str, str]:
    text = alert_text(message, channel.language)
    known = {
        "summary": harmless(text.title),
        "description": harmless(text.facts()),
        "runbook_url": safe_link(message.runbook),
        "count": str(message.count),
        "id": harmless(message.id),
    }
    return {name: value for name, value in known.items() if value}


def _end(message: AlertMessage, now: datetime) -> datetime:
    match message.status:
        case AlertStatus.FIRING:
            return now + FIRES_FOR
        case AlertStatus.RESOLVED:
            return max(message.opened_at, message.resolved_at or now)
        case AlertStatus.TEST:
            return now + TEST_FIRES_FOR
