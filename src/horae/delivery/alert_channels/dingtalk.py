"""DingTalk: a markdown message from a custom robot of a group.

The signature is in the query, over the time in milliseconds and the secret. DingTalk accepts it for an hour. A robot
sends 20 messages a minute; above that, DingTalk takes none for ten minutes.
"""

import hmac
from base64 import b64encode
from typing import Final
from urllib.parse import quote_plus

import msgspec

from horae.delivery.alert_channels.codes import VendorCodes
from horae.delivery.alert_channels.markdown import harmless, markdown_of
from horae.delivery.alert_channels.requests import JSON, ChannelRequest, ChannelSecrets
from horae.delivery.http import HttpAnswer
from horae.domain.alerts.channels import DingTalkChannel
from horae.domain.alerts.messages import AlertMessage
from horae.domain.alerts.texts import AlertText, fitting
from horae.domain.foreign import Unreadable, read_json

MAX_DINGTALK_BYTES: Final = 18_000
"""DingTalk refuses requests of more than 20,000 bytes."""
CODES: Final = VendorCodes(
    "DingTalk",
    {
        300001: "the URL of the hook is wrong, or the robot is not a custom one",
        310000: "the robot's security check failed: signature, clock, keyword (choose Horae) or address",
        400013: "the group was dissolved",
        400101: "the URL of the hook is wrong",
        400102: "the robot was stopped",
        400106: "the robot was removed from its group",
        430101: "DingTalk does not like a link in the message",
        430102: "DingTalk does not like the text of the message",
        430104: "DingTalk does not like the content of the message",
        460101: "the message is too long",
    },
    {130101: 600.0, 410100: 600.0, 90030: 600.0},
)


class _DingTalkAnswer(msgspec.Struct):
    errcode: int


def dingtalk_request(
    channel: DingTalkChannel, message: AlertMessage, secrets: ChannelSecrets, now_s: float
) -> ChannelRequest:
    """Return the signed request of a message."""
    url = secrets.url(channel.url_secret)
    if channel.signing is not None:
        stamp = str(int(now_s * 1000))
        signature = dingtalk_signature(stamp, secrets.text(channel.signing, url))
        url += f"{'&' if '?' in url else '?'}timestamp={stamp}&sign={quote_plus(signature)}"

    def render(text: AlertText) -> bytes:
        markdown = {"title": harmless(text.title), "text": markdown_of(text, "\n\n")}
        return msgspec.json.encode({"msgtype": "markdown", "markdown": markdown, "at": {"isAtAll": False}})

    body = fitting(message, channel.language, render, lambda body: len(body) <= MAX_DINGTALK_BYTES)
    return ChannelRequest(url, JSON, body)


def dingtalk_signature(stamp: str, secret: str) -> str:
    """Return the signature of a time in milliseconds."""
    return b64encode(hmac.digest(secret.encode(), f"{stamp}\n{secret}".encode(), "sha256")).decode()


def check_dingtalk(answer: HttpAnswer) -> None:
    """Raise unless DingTalk took the message."""
    try:
        code = read_json(answer.body, _DingTalkAnswer).errcode
    except Unreadable:
        code = None
    CODES.check(answer, code)
