"""All vendors that are called over HTTP, each with its receiver, a channel to it, and secrets that are canaries."""

from base64 import b64encode
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple
from uuid import UUID

from horae.delivery.alert_channels.sender import AlertSender
from horae.delivery.client import Client
from horae.delivery.secrets import secrets_in_memory
from horae.domain.alerts.channels import (
    AlertLanguage,
    AlertmanagerChannel,
    DingTalkChannel,
    FeishuChannel,
    HttpAlertChannel,
    PagerDutyChannel,
    SlackChannel,
    WebhookChannel,
    WeComChannel,
)
from tests.delivery.alert_channels import receivers
from tests.delivery.alert_channels.receivers import VendorReceiver
from tests.delivery.builders import TENANT
from tests.delivery.server import Behaviour, Server, serving

URL_CANARY = "canary-in-the-url-77c1"
SIGNING_CANARY = "SECcanary-that-signs-d03f"
WEBHOOK_CANARY = "whsec_" + b64encode(b"canary-of-the-webhook-71").decode()
ROUTING_CANARY = "canary-routing-key-55a9"
BEARER_CANARY = "canary-bearer-token-8e21"
CANARIES = (URL_CANARY, SIGNING_CANARY, WEBHOOK_CANARY, ROUTING_CANARY, BEARER_CANARY)


class Vendor(NamedTuple):
    """A vendor in the tests: a new receiver, the path of its hook, and a channel to a URL."""

    name: str
    receiver: Callable[[], VendorReceiver]
    hook: str
    channel: Callable[[str, AlertLanguage], HttpAlertChannel]

    def __repr__(self) -> str:
        return self.name


VENDORS = (
    Vendor(
        "feishu",
        lambda: receivers.FeishuReceiver(URL_CANARY, SIGNING_CANARY),
        f"/open-apis/bot/v2/hook/{URL_CANARY}",
        lambda _, language: FeishuChannel(url_secret="hook", signing="signing", language=language),
    ),
    Vendor(
        "dingtalk",
        lambda: receivers.DingTalkReceiver(URL_CANARY, SIGNING_CANARY),
        f"/robot/send?access_token={URL_CANARY}",
        lambda _, language: DingTalkChannel(url_secret="hook", signing="signing", language=language),
    ),
    Vendor(
        "wecom",
        lambda: receivers.WeComReceiver(URL_CANARY),
        f"/cgi-bin/webhook/send?key={URL_CANARY}",
        lambda _, language: WeComChannel(url_secret="hook", language=language),
    ),
    Vendor(
        "slack",
        lambda: receivers.SlackReceiver(URL_CANARY),
        f"/services/T0/B0/{URL_CANARY}",
        lambda _, language: SlackChannel(url_secret="hook", language=language),
    ),
    Vendor(
        "pagerduty",
        lambda: receivers.PagerDutyReceiver(ROUTING_CANARY),
        "/v2/enqueue",
        lambda url, language: PagerDutyChannel(routing_key="routing", url=url, language=language),
    ),
    Vendor(
        "alertmanager",
        lambda: receivers.AlertmanagerReceiver(BEARER_CANARY),
        "/prefix",
        lambda url, language: AlertmanagerChannel(url=url, bearer="bearer", language=language),
    ),
    Vendor(
        "webhook",
        lambda: receivers.WebhookReceiver(WEBHOOK_CANARY),
        "/alerts",
        lambda url, language: WebhookChannel(url=url, signing="webhook", language=language),
    ),
)
BY_NAME = {vendor.name: vendor for vendor in VENDORS}


class Meeting(NamedTuple):
    """A vendor that listens, a channel to it, and the sender."""

    server: Server
    receiver: VendorReceiver
    channel: HttpAlertChannel
    sender: AlertSender


async def nothing_to_learn(tenant_id: UUID, name: str) -> None:
    """The secrets are in memory already."""


def secrets_for(hook: str, changed: dict[str, str]) -> dict[str, str]:
    known = {
        "hook": hook,
        "signing": SIGNING_CANARY,
        "webhook": WEBHOOK_CANARY,
        "routing": ROUTING_CANARY,
        "bearer": BEARER_CANARY,
    }
    return known | changed


@asynccontextmanager
async def meeting(
    client: Client,
    name: str,
    *,
    language: AlertLanguage = AlertLanguage.EN,
    behave: Behaviour | None = None,
    path: str | None = None,
    **changed: str,
) -> AsyncIterator[Meeting]:
    """A vendor on a free port; `changed` are secrets with another value than the vendor knows."""
    vendor = BY_NAME[name]
    receiver = vendor.receiver()
    async with serving(behave or receiver.behave) as server:
        hook = server.url + (vendor.hook if path is None else path)
        secrets = secrets_in_memory({TENANT: secrets_for(hook, changed)})
        sender = AlertSender(client, secrets, nothing_to_learn)
        yield Meeting(server, receiver, vendor.channel(hook, language), sender)
        await client.close()
