"""Foreign texts in alert messages, made fit to be sent: on one line, of bounded length, and of visible characters."""

from hashlib import sha256
from typing import Final

import msgspec

from horae.domain.alerts.messages import AlertMessage
from horae.domain.foreign import UNKNOWN_CHARACTER
from horae.domain.names import DIGEST_CHARACTERS
from horae.domain.targets.urls import VISIBLE

LONGEST_ID: Final = 200
"""Characters of the id of a message, which goes into a header."""
LONGEST_GROUP_KEY: Final = 255
"""Characters; PagerDuty takes no longer one."""
LONGEST_TEXT: Final = 2000
"""Characters of any other text in a message."""
MOST_EXTRA_FACTS: Final = 20


def bounded(message: AlertMessage) -> AlertMessage:
    """Return a message whose texts are all fit to be sent. A message of the product itself is not changed by it."""
    return msgspec.structs.replace(
        message,
        id=_visible_id(message.id),
        group_key=_distinct_key(message.group_key),
        tenant=one_line(message.tenant, LONGEST_TEXT),
        reason=one_line(message.reason, LONGEST_TEXT),
        job=_optional(message.job),
        owner=_optional(message.owner),
        label=_optional(message.label),
        link=_optional(message.link),
        runbook=_optional(message.runbook),
        extra={
            one_line(name, LONGEST_TEXT): one_line(value, LONGEST_TEXT)
            for name, value in list(message.extra.items())[:MOST_EXTRA_FACTS]
        },
    )


def one_line(text: str, most: int) -> str:
    """Return a text on one line of at most `most` characters, without characters that nobody sees."""
    words = " ".join(text[: most * 4].split())
    seen = "".join([character if character.isprintable() else UNKNOWN_CHARACTER for character in words])
    return seen if len(seen) <= most else seen[: most - 1] + "…"


def cut_bytes(text: str, most: int) -> str:
    """Return the beginning of a text that has at most `most` bytes in UTF-8; no character is cut in half."""
    while (over := len(text.encode()) - most) > 0:
        text = text[: -max(1, over // 4)]  # a character has at most four bytes
    return text


def _optional(text: str | None) -> str | None:
    return None if text is None else one_line(text, LONGEST_TEXT)


def _visible_id(text: str) -> str:
    """Return an id that a header can carry: a text that is none becomes its digest, so that it stays constant."""
    return text if len(text) <= LONGEST_ID and VISIBLE.fullmatch(text) else _digest(text)


def _distinct_key(text: str) -> str:
    """Return a group key that fits. One that had to be changed gets a digest, so that two groups never become one."""
    if one_line(text, LONGEST_GROUP_KEY) == text:
        return text
    return one_line(text, LONGEST_GROUP_KEY - DIGEST_CHARACTERS - 1) + "…" + _digest(text)[:DIGEST_CHARACTERS]


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "backslashreplace")).hexdigest()
