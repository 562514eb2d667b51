"""PagerDuty, Events API v2: a firing message triggers an alert, its resolved message resolves the same alert."""

from typing import Any, Final

import msgspec

from horae.delivery.alert_channels.requests import JSON, ChannelRequest, ChannelSecrets, check_status
from horae.delivery.http import HttpAnswer
from horae.domain.alerts.channels import PagerDutyChannel
from horae.domain.alerts.kinds import AlertSeverity
from horae.domain.alerts.messages import AlertMessage, AlertStatus
from horae.domain.alerts.texts import AlertText, alert_text

MAX_SUMMARY_CHARACTERS: Final = 1024
ACTIONS: Final = {AlertStatus.FIRING: "trigger", AlertStatus.RESOLVED: "resolve", AlertStatus.TEST: "trigger"}


def pagerduty_request(channel: PagerDutyChannel, message: AlertMessage, secrets: ChannelSecrets) -> ChannelRequest:
    """Return the event of a message. The routing key is in the body."""
    event: dict[str, Any] = {
        "routing_key": secrets.text(channel.routing_key, channel.url),
        "event_action": ACTIONS[message.status],
        "dedup_key": message.group_key,
    }
    if message.status != AlertStatus.RESOLVED:
        text = alert_text(message, channel.language)
        links = [{"href": line.value, "text": line.label} for line in text.links()]
        event |= {"payload": _payload(message, text), "links": links, "client": "Horae"}
    return ChannelRequest(channel.url, JSON, msgspec.json.encode(event))


def check_pagerduty(answer: HttpAnswer) -> None:
    """Raise unless PagerDuty took the event: it answers 202, or 429 above the rate of a routing key."""
    check_status("PagerDuty", answer)


def _payload(message: AlertMessage, text: AlertText) -> dict[str, Any]:
    severity = AlertSeverity.INFO if message.status == AlertStatus.TEST else message.severity
    return {
        "summary": text.title[:MAX_SUMMARY_CHARACTERS],
        "source": f"horae/{message.tenant}",
        "severity": str(severity),
        "timestamp": message.opened_at.isoformat(),
        "component": message.job or message.label or "",
        "group": message.owner or message.tenant,
        "class": str(message.kind),
        "custom_details": {line.label: line.value for line in text.lines},
    }
