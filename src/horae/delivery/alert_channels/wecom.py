"""WeCom: a markdown message from a robot of a group. WeCom has no signature; the key in the URL is the credential.

A text of WeCom can mention people with `<@name>`, so no foreign text may contain an angle bracket. A robot sends 20
messages a minute.
"""

from typing import Final

import msgspec

from horae.delivery.alert_channels.codes import VendorCodes
from horae.delivery.alert_channels.markdown import markdown_of
from horae.delivery.alert_channels.requests import JSON, ChannelRequest, ChannelSecrets
from horae.delivery.http import HttpAnswer
from horae.domain.alerts.bounds import cut_bytes
from horae.domain.alerts.channels import WeComChannel
from horae.domain.alerts.messages import AlertMessage
from horae.domain.alerts.texts import fitting
from horae.domain.foreign import Unreadable, read_json

MAX_WECOM_BYTES: Final = 4096
"""Bytes of the markdown text in UTF-8."""
CODES: Final = VendorCodes(
    "WeCom",
    {
        40058: "WeCom does not accept the form of the message",
        93000: "the URL of the hook is wrong, or the robot was removed from its group",
        93004: "the robot was stopped",
        93008: "the robot is not in its group any more",
    },
    {45009: 60.0, 45033: 60.0},
)


class _WeComAnswer(msgspec.Struct):
    errcode: int


def wecom_request(channel: WeComChannel, message: AlertMessage, secrets: ChannelSecrets) -> ChannelRequest:
    """Return the request of a message."""
    url = secrets.url(channel.url_secret)
    content = fitting(
        message,
        channel.language,
        lambda text: markdown_of(text, "\n"),
        lambda content: len(content.encode()) <= MAX_WECOM_BYTES,
    )
    markdown = {"content": cut_bytes(content, MAX_WECOM_BYTES)}
    return ChannelRequest(url, JSON, msgspec.json.encode({"msgtype": "markdown", "markdown": markdown}))


def check_wecom(answer: HttpAnswer) -> None:
    """Raise unless WeCom took the message."""
    try:
        code = read_json(answer.body, _WeComAnswer).errcode
    except Unreadable:
        code = None
    CODES.check(answer, code)
