"""What is shown of settings holds no secret."""

import pytest

from horae.runtime.settings import CellSettings, Settings
from horae.runtime.settings.redaction import has_password, redacted, redacted_dsn, redacted_url


@pytest.mark.parametrize(
    ("dsn", "shown"),
    [
        ("postgresql://u:hunter2@h:5432/db?sslmode=verify-full", "postgresql://u:***@h:5432/db?sslmode=verify-full"),
        ("postgresql://u@h/db", "postgresql://u@h/db"),
        ("postgresql:///db?host=/run/postgresql&user=u", "postgresql:///db?host=/run/postgresql&user=u"),
        ("postgresql://h/db?password=hunter2&later=hunter2", "postgresql://h/db?password=***&later=***"),
        ("postgresql://u:hun/ter2@h/db", "***"),
        ("postgresql://u:hun#ter2@h/db", "***"),
        ("postgresql://u:hun@ter2@h/db", "postgresql://u:***@h/db"),
        ("host=h password=hunter2", "***"),
        ("postgresql://[hunter2", "***"),
    ],
)
def test_a_dsn_is_shown_without_its_password(dsn, shown):
    assert redacted_dsn(dsn) == shown
    assert has_password(dsn) is ("***" in shown) or dsn.startswith("host=")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://hc.example.com/ping/hunter2", "https://hc.example.com/***"),
        ("https://hc.example.com?token=hunter2", "https://hc.example.com"),
        ("nats://hunter2@a:4222,nats://u:hunter2@b", "nats://***@a:4222,nats://***@b"),
        ("kafka-1:9092,kafka-2:9092", "kafka-1:9092,kafka-2:9092"),
        ("amqp://u:hunter2@h/vhost", "amqp://***@h"),
    ],
)
def test_a_secret_address_is_shown_by_its_hosts(url, shown):
    assert redacted_url(url) == shown


def test_nothing_secret_is_shown_of_any_setting():
    settings = Settings(
        environment="test",
        cells=[CellSettings(name="a", dsn="postgresql://u:hunter2@h/d", upkeep_dsn="postgresql://u:hunter2@h/d")],
        api_secret="hunter2",
        secrets={"acme": {"crm": "hunter2"}},
        oidc={"issuer": "i", "client_id": "c", "client_secret": "hunter2", "redirect_url": "r"},
        brokers={"main": {"kind": "kafka", "url": "h:1", "options": {"sasl.password": "hunter2"}}},
        transit={"url": "https://v", "key": "k", "token": "hunter2"},
        heartbeat_url="https://hc.example.com/hunter2",
        audit_anchor_url="https://u:hunter2@h/",
        **dict.fromkeys(
            ("monitoring_token", "archive_secret", "audit_anchor_secret", "smtp_password", "heartbeat_secret"),
            "hunter2",
        ),
    )
    shown = redacted(settings)
    assert "hunter2" not in repr(shown)
    assert "hunter2" not in repr(settings)
    assert shown["secrets"] == {"acme": {"crm": "***"}}
    assert shown["cells"][0]["dsn"] == "postgresql://u:***@h/d"
    assert shown["brokers"]["main"] == {
        "kind": "kafka",
        "url": "h:1",
        "options": {"sasl.password": "***"},
        "topics": ["{tenant}.*"],
    }
