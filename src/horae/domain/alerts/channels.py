"""Alert channels: where messages about alerts go. A channel holds the names of secrets, never their values.

The hooks of Feishu, DingTalk, WeCom and Slack carry their credential inside the URL. Their whole URL is therefore a
named secret: `url_secret` is the name of it. A secret can be bound to its vendor's host.
"""

import re
from enum import StrEnum
from typing import Final, assert_never

import msgspec

from horae.domain.errors import Invalid
from horae.domain.targets.auth import check_secret_name
from horae.domain.targets.urls import check_url

PAGERDUTY_URL: Final = "https://events.pagerduty.com/v2/enqueue"
"""Accounts in the service region EU use `https://events.eu.pagerduty.com/v2/enqueue`."""
LONGEST_CHANNEL_URL: Final = 2000
"""Characters."""
MOST_RECIPIENTS: Final = 20
"""Addresses of one e-mail channel."""
LONGEST_ADDRESS: Final = 254
"""Characters; the longest address that SMTP can carry."""
EMAIL_ADDRESS: Final = re.compile(r"[A-Za-z0-9._%+'/=-]{1,64}@([A-Za-z0-9-]{1,63}\.){1,9}[A-Za-z0-9-]{2,63}")
"""A plain address of visible ASCII: no display name, no quotes, no comment, nothing that ends a header."""


class AlertLanguage(StrEnum):
    """The language of the texts that a channel sends."""

    EN = "en"
    ZH = "zh"


class _ChannelFields(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", omit_defaults=True):
    """What every channel has."""

    language: AlertLanguage = AlertLanguage.EN


class FeishuChannel(_ChannelFields, frozen=True, kw_only=True, tag="feishu"):
    """A custom bot of a Feishu or Lark group. `signing` names the secret of its signature check, if that is on."""

    url_secret: str
    signing: str | None = None

    def __post_init__(self) -> None:
        _check_secrets(self.url_secret, self.signing)


class DingTalkChannel(_ChannelFields, frozen=True, kw_only=True, tag="dingtalk"):
    """A custom robot of a DingTalk group. `signing` names the secret (`SEC…`) of its signature check, if that is on."""

    url_secret: str
    signing: str | None = None

    def __post_init__(self) -> None:
        _check_secrets(self.url_secret, self.signing)


class WeComChannel(_ChannelFields, frozen=True, kw_only=True, tag="wecom"):
    """A robot of a WeCom group. WeCom has no signature: the key in the URL is the credential."""

    url_secret: str

    def __post_init__(self) -> None:
        _check_secrets(self.url_secret)


class SlackChannel(_ChannelFields, frozen=True, kw_only=True, tag="slack"):
    """An incoming webhook of a Slack channel. Its URL is the credential."""

    url_secret: str

    def __post_init__(self) -> None:
        _check_secrets(self.url_secret)


class PagerDutyChannel(_ChannelFields, frozen=True, kw_only=True, tag="pagerduty"):
    """An integration of a PagerDuty service (Events API v2). `routing_key` names the secret with its integration key.

    `url` is the endpoint of the account's service region.
    """

    routing_key: str
    url: str = PAGERDUTY_URL

    def __post_init__(self) -> None:
        _check_secrets(self.routing_key)
        _check_channel_url(self.url)


class AlertmanagerChannel(_ChannelFields, frozen=True, kw_only=True, tag="alertmanager"):
    """A Prometheus Alertmanager. `url` is its base address without `/api/v2/alerts`.

    `bearer` names the secret with a bearer token, where a proxy in front of it wants one.
    """

    url: str
    bearer: str | None = None

    def __post_init__(self) -> None:
        _check_secrets(self.bearer)
        _check_channel_url(self.url)
        if "?" in self.url or "#" in self.url:
            raise Invalid("the address of an Alertmanager has no query and no fragment")


class WebhookChannel(_ChannelFields, frozen=True, kw_only=True, tag="webhook"):
    """A URL that takes messages as JSON, signed by Standard Webhooks with the named secret (`whsec_…`)."""

    url: str
    signing: str

    def __post_init__(self) -> None:
        _check_secrets(self.signing)
        _check_channel_url(self.url)


class EmailChannel(_ChannelFields, frozen=True, kw_only=True, tag="email"):
    """E-mail to some addresses. The settings of the platform name the server and the sender (`HORAE_SMTP_HOST` …)."""

    to: tuple[str, ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.to) <= MOST_RECIPIENTS:
            raise Invalid(f"an e-mail channel has 1 to {MOST_RECIPIENTS} addresses")
        for address in self.to:
            if len(address) > LONGEST_ADDRESS or not EMAIL_ADDRESS.fullmatch(address):
                raise Invalid(f"{address[:LONGEST_ADDRESS]!r} is not an e-mail address such as ops@example.com")


HttpAlertChannel = (
    FeishuChannel
    | DingTalkChannel
    | WeComChannel
    | SlackChannel
    | PagerDutyChannel
    | AlertmanagerChannel
    | WebhookChannel
)
AlertChannel = HttpAlertChannel | EmailChannel


def secrets_of(channel: AlertChannel) -> tuple[str, ...]:
    """Return the names of the secrets that a channel uses."""
    match channel:
        case FeishuChannel(url_secret=url, signing=signing) | DingTalkChannel(url_secret=url, signing=signing):
            return (url,) if signing is None else (url, signing)
        case WeComChannel(url_secret=name) | SlackChannel(url_secret=name):
            return (name,)
        case PagerDutyChannel(routing_key=name) | WebhookChannel(signing=name):
            return (name,)
        case AlertmanagerChannel(bearer=bearer):
            return () if bearer is None else (bearer,)
        case EmailChannel():
            return ()
        case _:
            assert_never(channel)


def _check_secrets(*names: str | None) -> None:
    for name in names:
        if name is not None:
            check_secret_name(name)


def _check_channel_url(url: str) -> None:
    if len(url) > LONGEST_CHANNEL_URL:
        raise Invalid(f"the URL of a channel has at most {LONGEST_CHANNEL_URL} characters")
    check_url(url)
