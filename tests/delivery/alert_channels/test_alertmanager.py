"""The real Alertmanager of Debian takes alerts, sends them on to its receivers, and ends them."""

import asyncio
import json
import shutil
import socket
import subprocess
import urllib.request
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from horae.delivery.alert_channels.sender import AlertSender
from horae.delivery.client import Client
from horae.delivery.secrets import secrets_in_memory
from horae.domain.alerts.channels import AlertLanguage, AlertmanagerChannel
from horae.domain.alerts.kinds import AlertKind
from horae.domain.alerts.messages import AlertMessage, AlertStatus
from tests.cluster import free_port
from tests.delivery.alert_channels.messages import CONSOLE, ENEMY_TEXTS, RUNBOOK, a_message, an_enemys_message
from tests.delivery.alert_channels.vendors import nothing_to_learn
from tests.delivery.builders import TENANT
from tests.delivery.server import Received, Server, serving

PROGRAM = shutil.which("prometheus-alertmanager")
LONGEST_S = 60
CONFIG = """
route:
  receiver: people
  group_by: ['...']
  group_wait: 10ms
  group_interval: 10ms
  repeat_interval: 1h
receivers:
- name: people
  webhook_configs:
  - url: %s
    send_resolved: true
"""

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="Debian's prometheus-alertmanager is not installed")


@pytest.fixture
async def people(received: Received) -> AsyncIterator[Server]:
    """What Alertmanager notifies."""
    async with serving(received.behave) as server:
        yield server


@pytest.fixture
async def alertmanager(people: Server, tmp_path: Path) -> AsyncIterator[str]:
    """Its address, once it listens."""
    config, port = tmp_path / "alertmanager.yml", free_port()
    config.write_text(CONFIG % people.url)
    assert PROGRAM is not None
    words = [
        PROGRAM,
        f"--config.file={config}",
        f"--storage.path={tmp_path}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--cluster.listen-address=",
    ]
    with (tmp_path / "log").open("wb") as log, subprocess.Popen(words, stdout=log, stderr=log) as process:
        try:
            await until(lambda: process.poll() is not None or listens(port))
            assert process.poll() is None, (tmp_path / "log").read_text()
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def listens(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


async def until(true: Callable[[], bool]) -> None:
    """Wait until something that another process causes is true."""
    async with asyncio.timeout(LONGEST_S):
        while not true():
            await asyncio.sleep(0.02)


async def alerts_at(url: str) -> list[dict[str, Any]]:
    """The alerts that fire now, as its API shows them."""

    def read() -> list[dict[str, Any]]:
        with urllib.request.urlopen(f"{url}/api/v2/alerts", timeout=LONGEST_S) as answer:
            return json.load(answer)

    return await asyncio.to_thread(read)


def now() -> datetime:
    return datetime.now(UTC)


def notified(received: Received, status: str) -> list[dict[str, Any]]:
    """What the receiver behind Alertmanager was sent."""
    return [alert for body in received.bodies for alert in json.loads(body)["alerts"] if alert["status"] == status]


async def send(client: Client, url: str, message: AlertMessage, language: AlertLanguage = AlertLanguage.EN) -> None:
    sender = AlertSender(client, secrets_in_memory({}), nothing_to_learn)
    await sender.send(TENANT, None, AlertmanagerChannel(url=url, language=language), message)


async def test_an_alert_appears_reaches_people_and_is_resolved(client, alertmanager, received):
    opened_at = now() - timedelta(minutes=2)
    await send(client, alertmanager, a_message(opened_at=opened_at))
    [alert] = await alerts_at(alertmanager)
    assert alert["labels"] == {
        "alertname": "dead_letter",
        "severity": "critical",
        "tenant": "acme",
        "horae_job": "invoices",
        "owner": "payments",
        "horae_group": "acme/dead_letter/invoices",
    }
    assert alert["generatorURL"] == CONSOLE
    assert alert["annotations"]["runbook_url"] == RUNBOOK
    assert datetime.fromisoformat(alert["startsAt"]) == opened_at.replace(
        microsecond=opened_at.microsecond // 1000 * 1000
    )
    assert alert["status"]["state"] in {"active", "unprocessed"}
    await until(lambda: bool(notified(received, "firing")))

    await send(client, alertmanager, a_message(AlertStatus.RESOLVED, opened_at=opened_at, resolved_at=now()))
    assert await alerts_at(alertmanager) == []
    await until(lambda: bool(notified(received, "resolved")))
    [ended] = notified(received, "resolved")
    assert ended["labels"] == alert["labels"]


async def test_an_alert_that_is_not_sent_again_fires_on(client, alertmanager):
    """Without an end of our own, Alertmanager would resolve it after its `resolve_timeout` of five minutes."""
    await send(client, alertmanager, a_message(opened_at=now()))
    [alert] = await alerts_at(alertmanager)
    assert datetime.fromisoformat(alert["endsAt"]) > now() + timedelta(days=6)


async def test_a_test_ends_by_itself(client, alertmanager):
    await send(client, alertmanager, a_message(AlertStatus.TEST, opened_at=now()))
    [alert] = await alerts_at(alertmanager)
    assert alert["labels"]["test"] == "true"
    assert datetime.fromisoformat(alert["endsAt"]) < now() + timedelta(minutes=6)


async def test_a_repeated_message_is_the_same_alert(client, alertmanager):
    for _ in range(3):
        await send(client, alertmanager, a_message(opened_at=now()))
    assert len(await alerts_at(alertmanager)) == 1


async def test_it_takes_every_kind_in_both_languages_and_the_texts_of_an_enemy(client, alertmanager):
    for language in AlertLanguage:
        for kind in AlertKind:
            await send(client, alertmanager, a_message(kind=kind, opened_at=now()), language)
    assert len(await alerts_at(alertmanager)) == len(AlertKind)
    for text in ENEMY_TEXTS:
        await send(client, alertmanager, an_enemys_message(text))
