"""No secret of a channel gets into a log line, an error, or a text that people see."""

import traceback

import pytest
from structlog.testing import capture_logs

from horae.delivery.alert_channels import sender as sender_module
from horae.delivery.alert_channels.mail import Mailer
from horae.domain.alerts.channels import EmailChannel
from horae.domain.alerts.messages import AlertStatus
from horae.domain.errors import ChannelRefused, Unavailable
from horae.domain.targets.egress import Egress
from horae.runtime.settings import Settings
from tests.cluster import free_port
from tests.delivery.alert_channels.messages import a_message
from tests.delivery.alert_channels.vendors import CANARIES, ROUTING_CANARY, VENDORS, meeting
from tests.delivery.builders import TENANT
from tests.delivery.server import Visit, answer, silent

NAMES = [vendor.name for vendor in VENDORS]
HOOKS = ["feishu", "dingtalk", "wecom", "slack"]
PASSWORD = "canary-of-the-mail-server"


def assert_silent(text: str) -> None:
    assert not [canary for canary in (*CANARIES, PASSWORD) if canary in text]


async def failure_of(met, egress: Egress | None = None) -> str:
    """Everything that an error of a channel shows, with the errors that caused it and what was logged meanwhile."""
    with capture_logs() as logged, pytest.raises((Unavailable, ChannelRefused)) as caught:
        await met.sender.send(TENANT, egress, met.channel, a_message())
    error = caught.value
    told = "".join(traceback.format_exception(error))
    return f"{told} {error!r} {error.facts} {error.args} {logged}"


async def echo(visit: Visit) -> None:
    """Say back everything that was heard, as a refusal and as a success."""
    while heard := await visit.heard():
        await visit.say(answer(200 if visit.number % 2 else 400, heard))


@pytest.mark.parametrize("name", ["feishu", "dingtalk", "wecom", "slack"])
async def test_a_vendor_that_repeats_our_secrets_makes_us_repeat_none(client, name):
    async with meeting(client, name, behave=echo) as met:
        assert_silent(await failure_of(met))


@pytest.mark.parametrize("status", [400, 401, 429, 500])
@pytest.mark.parametrize("name", NAMES)
async def test_no_error_of_a_vendor_shows_a_secret(client, name, status):
    async with meeting(client, name) as met:
        met.receiver.answers.append(answer(status, " ".join(CANARIES).encode()))
        assert_silent(await failure_of(met))


@pytest.mark.parametrize("name", NAMES)
async def test_no_timeout_and_no_refused_address_shows_a_secret(client, name, monkeypatch):
    monkeypatch.setattr(sender_module, "READ_TIMEOUT_S", 0.05)
    async with meeting(client, name, behave=silent) as met:
        assert_silent(await failure_of(met))
        assert_silent(await failure_of(met, Egress()))


@pytest.mark.parametrize(
    "wrong", ["", "not a url", "ftp://x/", "https://user:{}@x/", "https://x/ö", "https://x:99999/"]
)
@pytest.mark.parametrize("name", HOOKS)
async def test_a_secret_that_is_no_url_is_not_repeated(client, name, wrong):
    value = wrong.replace("{}", CANARIES[0]) + CANARIES[0]
    async with meeting(client, name, hook=value) as met:
        shown = await failure_of(met)
    assert_silent(shown)
    assert "'hook'" in shown


@pytest.mark.parametrize("name", NAMES)
async def test_a_secret_with_a_line_end_is_refused_and_not_repeated(client, name):
    broken = {
        "signing": f"{CANARIES[1]}\r\nX: 1",
        "bearer": f"{CANARIES[4]}\nX: 1",
        "routing": "a\nb",
        "webhook": "x\ny",
    }
    if name in {"wecom", "slack"}:
        broken["hook"] = f"https://x/{CANARIES[0]}\r\nX: 1"
    async with meeting(client, name, **broken) as met:
        assert_silent(await failure_of(met))
    assert not met.receiver.requests


@pytest.mark.parametrize("status", AlertStatus)
@pytest.mark.parametrize("name", NAMES)
async def test_no_message_carries_a_secret_but_the_routing_key_of_pagerduty(client, name, status):
    async with meeting(client, name) as met:
        with capture_logs() as logged:
            await met.sender.send(TENANT, None, met.channel, a_message(status))
    [seen] = met.receiver.requests
    body = seen.raw.decode()
    if name == "pagerduty":
        assert body.count(ROUTING_CANARY) == 1
        body = body.replace(ROUTING_CANARY, "")
    assert_silent(body)
    assert_silent(str(logged))


async def test_no_error_of_the_mail_server_shows_its_password():
    settings = Settings(
        smtp_host="127.0.0.1",
        smtp_port=free_port(),
        smtp_user="horae",
        smtp_password=PASSWORD,
        smtp_sender="horae@example.com",
    )
    server = settings.smtp()
    assert server is not None
    assert_silent(f"{settings!r} {server!r} {server}")
    mailer = Mailer(server)
    with pytest.raises(Unavailable) as caught:
        await mailer.send(EmailChannel(to=("ops@example.com",)), a_message())
    mailer.close()
    assert_silent("".join(traceback.format_exception(caught.value)))
