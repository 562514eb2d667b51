"""Alerts, and where and when they are sent."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from horae_client.asked import alerts as asked
from horae_client.models import Alert, AlertChannel, AlertRule, ChannelTest, Silence
from horae_client.sync.verbs import Items, Verbs


class Alerts(Verbs):
    """The alerts: what is wrong, what was, and who takes care of it."""

    def list(
        self, *, state: str | None = None, kind: str | None = None, job: str | None = None, limit: int | None = None
    ) -> Items[Alert]:
        """List the alerts, newest first. A state is `OPEN`, `ACKNOWLEDGED` or `RESOLVED`.

        >>> [one.reason for one in client.alerts.list(state="OPEN", kind="no_success")]
        []
        """
        return self._pages(asked.alerts(state, kind, job), limit)

    def get(self, alert_id: str) -> Alert:
        """Get an alert with its messages.

        >>> ids = [one.id for one in client.alerts.list(kind="no_success")]
        >>> [client.alerts.get(id_) for id_ in ids]
        []
        """
        return self._ask(asked.alert(alert_id))

    def acknowledge(self, alert_id: str) -> Alert:
        """Acknowledge an open alert: it is not repeated any more.

        >>> ids = [one.id for one in client.alerts.list(state="OPEN", kind="no_success")]
        >>> [client.alerts.acknowledge(id_) for id_ in ids]
        []
        """
        return self._ask(asked.acknowledge(alert_id))


class AlertChannels(Verbs):
    """The alert channels: where messages about alerts go."""

    def put(self, name: str, channel: Mapping[str, Any]) -> AlertChannel:
        """Create or change an alert channel. Credentials are names of secrets.

        >>> made = client.alert_channels.put("orders-oncall", {"kind": "slack", "url_secret": "slack-hook"})
        >>> made.channel["kind"]
        'slack'
        """
        return self._ask(asked.put_channel(name, channel))

    def list(self, *, limit: int | None = None) -> Items[AlertChannel]:
        """List the alert channels by name.

        >>> made = client.alert_channels.put("mail", {"kind": "email", "to": ["ops@example.com"]})
        >>> "mail" in [one.name for one in client.alert_channels.list()]
        True
        """
        return self._pages(asked.channels(), limit)

    def get(self, name: str) -> AlertChannel:
        """Get an alert channel.

        >>> made = client.alert_channels.put("mail", {"kind": "email", "to": ["ops@example.com"]})
        >>> found = client.alert_channels.get("mail")
        >>> found.channel["to"]
        ['ops@example.com']
        """
        return self._ask(asked.channel(name))

    def remove(self, name: str) -> AlertChannel:
        """Remove an alert channel.

        >>> made = client.alert_channels.put("old-mail", {"kind": "email", "to": ["ops@example.com"]})
        >>> gone = client.alert_channels.remove("old-mail")
        >>> gone.name
        'old-mail'
        """
        return self._ask(asked.remove_channel(name))

    def test(self, name: str) -> ChannelTest:
        """Send a test message. A node sends it within seconds; `get_test` shows what became of it.

        >>> made = client.alert_channels.put("mail", {"kind": "email", "to": ["ops@example.com"]})
        >>> test = client.alert_channels.test("mail")
        >>> test.attempts
        0
        """
        return self._ask(asked.send_test(name))

    def get_test(self, test_id: str) -> ChannelTest:
        """Get a test: whether the channel has taken the message, or why not.

        >>> made = client.alert_channels.put("mail", {"kind": "email", "to": ["ops@example.com"]})
        >>> test = client.alert_channels.test("mail")
        >>> found = client.alert_channels.get_test(test.id)
        >>> found.id == test.id
        True
        """
        return self._ask(asked.sent_test(test_id))


class AlertRules(Verbs):
    """The alert rules: what is a fault, and where messages about it go."""

    def put(
        self,
        name: str,
        kind: str,
        *,
        job: str | None = None,
        labels: Mapping[str, str] | None = None,
        owner: str | None = None,
        threshold: float | None = None,
        resolve_after: int | None = None,
        channels: Sequence[str] | None = None,
        severity: str | None = None,
        group_by: str | None = None,
        repeat_after: int | None = None,
        enabled: bool | None = None,
    ) -> AlertRule:
        """Create or change an alert rule. Without a job, labels or owner it replaces the default rule of its kind.

        >>> rule = client.alert_rules.put("coupons", "no_success", job="coupon_job", threshold=3600)
        >>> rule.repeat_after
        3600
        """
        facts = {
            "job": job,
            "labels": labels,
            "owner": owner,
            "threshold": threshold,
            "resolve_after": resolve_after,
            "channels": channels,
            "severity": severity,
            "group_by": group_by,
            "repeat_after": repeat_after,
            "enabled": enabled,
        }
        return self._ask(asked.put_rule(name, kind, facts))

    def list(self, *, limit: int | None = None) -> Items[AlertRule]:
        """List the alert rules by name. Default rules are not listed.

        >>> made = client.alert_rules.put("crm", "missed", labels={"team": "crm"})
        >>> "crm" in [one.name for one in client.alert_rules.list()]
        True
        """
        return self._pages(asked.rules(), limit)

    def get(self, name: str) -> AlertRule:
        """Get an alert rule.

        >>> made = client.alert_rules.put("crm", "missed", labels={"team": "crm"})
        >>> found = client.alert_rules.get("crm")
        >>> found.labels
        {'team': 'crm'}
        """
        return self._ask(asked.rule(name))

    def remove(self, name: str) -> AlertRule:
        """Remove an alert rule.

        >>> made = client.alert_rules.put("old", "missed", labels={"team": "crm"})
        >>> gone = client.alert_rules.remove("old")
        >>> gone.kind
        'missed'
        """
        return self._ask(asked.remove_rule(name))


class Silences(Verbs):
    """The silences: when alerts are recorded and not sent."""

    def put(
        self,
        name: str,
        starts_at: datetime,
        ends_at: datetime,
        *,
        kinds: Sequence[str] | None = None,
        job: str | None = None,
        labels: Mapping[str, str] | None = None,
        owner: str | None = None,
        comment: str | None = None,
    ) -> Silence:
        """Create or change a silence: of some kinds, of some jobs, or of all alerts.

        >>> from datetime import UTC, datetime
        >>> night = datetime(2030, 1, 31, 22, tzinfo=UTC), datetime(2030, 2, 1, 2, tzinfo=UTC)
        >>> silence = client.silences.put("maintenance", *night, labels={"team": "crm"})
        >>> silence.labels
        {'team': 'crm'}
        """
        facts = {
            "starts_at": starts_at,
            "ends_at": ends_at,
            "kinds": kinds,
            "job": job,
            "labels": labels,
            "owner": owner,
            "comment": comment,
        }
        return self._ask(asked.put_silence(name, facts))

    def list(self, *, limit: int | None = None) -> Items[Silence]:
        """List the silences by name.

        >>> from datetime import UTC, datetime
        >>> night = datetime(2030, 1, 31, 22, tzinfo=UTC), datetime(2030, 2, 1, 2, tzinfo=UTC)
        >>> made = client.silences.put("night", *night)
        >>> "night" in [one.name for one in client.silences.list()]
        True
        """
        return self._pages(asked.silences(), limit)

    def get(self, name: str) -> Silence:
        """Get a silence.

        >>> from datetime import UTC, datetime
        >>> night = datetime(2030, 1, 31, 22, tzinfo=UTC), datetime(2030, 2, 1, 2, tzinfo=UTC)
        >>> made = client.silences.put("night", *night)
        >>> found = client.silences.get("night")
        >>> found.kinds
        []
        """
        return self._ask(asked.silence(name))

    def remove(self, name: str) -> Silence:
        """Remove a silence.

        >>> from datetime import UTC, datetime
        >>> night = datetime(2030, 1, 31, 22, tzinfo=UTC), datetime(2030, 2, 1, 2, tzinfo=UTC)
        >>> made = client.silences.put("past", *night)
        >>> gone = client.silences.remove("past")
        >>> gone.name
        'past'
        """
        return self._ask(asked.remove_silence(name))
