"""Requests about alerts, alert channels, alert rules and silences. Each is safe to repeat, except a test."""

from collections.abc import Mapping
from typing import Any

from horae_client.models import Alert, AlertChannel, AlertRule, ChannelTest, Page, Silence
from horae_client.wire import Request, path, said


def alerts(state: str | None, kind: str | None, job: str | None) -> Request[Page[Alert]]:
    """Get a page of alerts."""
    return Request("GET", path("alerts"), Page[Alert], query=said(state=state, kind=kind, job=job))


def alert(id_: str) -> Request[Alert]:
    """Get an alert."""
    return Request("GET", path("alerts", id_), Alert)


def acknowledge(id_: str) -> Request[Alert]:
    """Acknowledge an alert."""
    return Request("POST", path("alerts", id_, "acknowledge"), Alert)


def put_channel(name: str, channel: Mapping[str, Any]) -> Request[AlertChannel]:
    """Create or change an alert channel."""
    return Request("PUT", path("alert-channels", name), AlertChannel, body={"channel": dict(channel)})


def channels() -> Request[Page[AlertChannel]]:
    """Get a page of alert channels."""
    return Request("GET", path("alert-channels"), Page[AlertChannel])


def channel(name: str) -> Request[AlertChannel]:
    """Get an alert channel."""
    return Request("GET", path("alert-channels", name), AlertChannel)


def remove_channel(name: str) -> Request[AlertChannel]:
    """Remove an alert channel."""
    return Request("DELETE", path("alert-channels", name), AlertChannel)


def send_test(name: str) -> Request[ChannelTest]:
    """Send a test. It is not retried after a lost answer, because a second request is a second message."""
    return Request("POST", path("alert-channels", name, "test"), ChannelTest, again=False)


def sent_test(id_: str) -> Request[ChannelTest]:
    """Get a test."""
    return Request("GET", path("alert-tests", id_), ChannelTest)


def put_rule(name: str, kind: str, facts: Mapping[str, Any]) -> Request[AlertRule]:
    """Create or change an alert rule."""
    return Request("PUT", path("alert-rules", name), AlertRule, body=said(kind=kind, **facts))


def rules() -> Request[Page[AlertRule]]:
    """Get a page of alert rules."""
    return Request("GET", path("alert-rules"), Page[AlertRule])


def rule(name: str) -> Request[AlertRule]:
    """Get an alert rule."""
    return Request("GET", path("alert-rules", name), AlertRule)


def remove_rule(name: str) -> Request[AlertRule]:
    """Remove an alert rule."""
    return Request("DELETE", path("alert-rules", name), AlertRule)


def put_silence(name: str, facts: Mapping[str, Any]) -> Request[Silence]:
    """Create or change a silence."""
    return Request("PUT", path("silences", name), Silence, body=said(**facts))


def silences() -> Request[Page[Silence]]:
    """Get a page of silences."""
    return Request("GET", path("silences"), Page[Silence])


def silence(name: str) -> Request[Silence]:
    """Get a silence."""
    return Request("GET", path("silences", name), Silence)


def remove_silence(name: str) -> Request[Silence]:
    """Remove a silence."""
    return Request("DELETE", path("silences", name), Silence)
