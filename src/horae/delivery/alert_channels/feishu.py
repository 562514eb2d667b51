"""Feishu and Lark: a card from a custom bot of a group.

The signature is in the body. Its HMAC has the time (in seconds) and the secret as the key, and nothing as the message.
Feishu accepts it for an hour. Plain text elements of a card know no markup and no mentions.
"""

import hmac
from base64 import b64encode
from typing import Any, Final

import msgspec

from horae.delivery.alert_channels.codes import VendorCodes
from horae.delivery.alert_channels.requests import JSON, ChannelRequest, ChannelSecrets
from horae.delivery.http import HttpAnswer
from horae.domain.alerts.channels import FeishuChannel
from horae.domain.alerts.kinds import AlertSeverity
from horae.domain.alerts.messages import AlertMessage, AlertStatus
from horae.domain.alerts.texts import AlertText, fitting
from horae.domain.foreign import Unreadable, read_json

MAX_FEISHU_BYTES: Final = 20_000
"""Feishu refuses requests of more than 20 KB."""
COLOURS: Final = {AlertSeverity.CRITICAL: "red", AlertSeverity.WARNING: "orange", AlertSeverity.INFO: "blue"}
CODES: Final = VendorCodes(
    "Feishu",
    {
        19001: "the URL of the hook is wrong, or the bot was removed from its group",
        19021: "the signature is wrong, or the clock of this machine differs by more than an hour",
        19022: "the address of this machine is not in the list of the bot",
        19024: "the bot wants a keyword that the message has not; choose the keyword Horae",
    },
    {11232: 10.0},
)


class _FeishuAnswer(msgspec.Struct):
    code: int | None = None
    StatusCode: int | None = None


def feishu_request(
    channel: FeishuChannel, message: AlertMessage, secrets: ChannelSecrets, now_s: float
) -> ChannelRequest:
    """Return the signed request of a message."""
    url = secrets.url(channel.url_secret)
    signature: dict[str, str] = {}
    if channel.signing is not None:
        stamp = str(int(now_s))
        signature = {"timestamp": stamp, "sign": feishu_signature(stamp, secrets.text(channel.signing, url))}

    def render(text: AlertText) -> bytes:
        return msgspec.json.encode({**signature, "msg_type": "interactive", "card": _card(text, message)})

    body = fitting(message, channel.language, render, lambda body: len(body) <= MAX_FEISHU_BYTES)
    return ChannelRequest(url, JSON, body)


def feishu_signature(stamp: str, secret: str) -> str:
    """Return the signature of a time in seconds."""
    return b64encode(hmac.digest(f"{stamp}\n{secret}".encode(), b"", "sha256")).decode()


def check_feishu(answer: HttpAnswer) -> None:
    """Raise unless Feishu took the message."""
    try:
        read = read_json(answer.body, _FeishuAnswer)
    except Unreadable:
        CODES.check(answer, None)
        return
    CODES.check(answer, read.StatusCode if read.code is None else read.code)


def _card(text: AlertText, message: AlertMessage) -> dict[str, Any]:
    elements: list[dict[str, Any]] = [{"tag": "div", "text": _plain(text.facts())}]
    buttons = [
        {"tag": "button", "type": "default", "text": _plain(line.label), "url": line.value} for line in text.links()
    ]
    if buttons:
        elements.append({"tag": "action", "actions": buttons})
    colour = COLOURS[message.severity] if message.status == AlertStatus.FIRING else "green"
    return {
        "config": {"wide_screen_mode": True},
        "header": {"title": _plain(text.title), "template": colour},
        "elements": elements,
    }


def _plain(content: str) -> dict[str, str]:
    return {"tag": "plain_text", "content": content}
