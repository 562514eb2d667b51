"""Slack: a message of blocks from an incoming webhook. Its URL is the credential.

Slack reads `<…>` as mentions and links, so the three characters `&`, `<` and `>` of foreign texts are escaped. The
facts are plain text, in which Slack reads no markup.
"""

from typing import Any, Final

import msgspec

from horae.delivery.alert_channels.requests import JSON, ChannelRequest, ChannelSecrets, check_status
from horae.delivery.http import HttpAnswer
from horae.domain.alerts.channels import SlackChannel
from horae.domain.alerts.messages import AlertMessage
from horae.domain.alerts.texts import AlertText, fitting
from horae.domain.errors import Unavailable

MAX_HEADER_CHARACTERS: Final = 150
MAX_SECTION_CHARACTERS: Final = 3000
ESCAPES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def slack_request(channel: SlackChannel, message: AlertMessage, secrets: ChannelSecrets) -> ChannelRequest:
    """Return the request of a message."""
    url = secrets.url(channel.url_secret)
    text = fitting(
        message, channel.language, lambda text: text, lambda text: len(text.facts()) <= MAX_SECTION_CHARACTERS
    )
    return ChannelRequest(url, JSON, msgspec.json.encode({"text": _escape(text.title), "blocks": _blocks(text)}))


def check_slack(answer: HttpAnswer) -> None:
    """Raise unless Slack took the message: it answers 200 with the text `ok`."""
    check_status("Slack", answer)
    if answer.body.strip() != b"ok":
        raise Unavailable("the answer of Slack cannot be read")


def _blocks(text: AlertText) -> list[dict[str, Any]]:
    links = [f"<{line.value}|{_escape(line.label)}>" for line in text.links()]
    blocks: list[dict[str, Any]] = [
        {"type": "header", "text": _plain(_cut(text.title, MAX_HEADER_CHARACTERS))},
        {"type": "section", "text": _plain(_cut(text.facts(), MAX_SECTION_CHARACTERS))},
    ]
    if links:
        blocks.append({"type": "section", "text": {"type": "mrkdwn", "text": " · ".join(links)}})
    return blocks


def _plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": _escape(text), "emoji": False}


def _escape(text: str) -> str:
    return text.translate(ESCAPES)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
