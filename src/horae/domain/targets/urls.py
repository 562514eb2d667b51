"""Checks of URLs and headers before they are sent."""

import re
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from horae.domain.errors import Invalid

VISIBLE: Final = re.compile(r"[\x21-\x7e]+")
"""Visible ASCII."""
HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
UNSENDABLE: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
"""Control characters other than tab."""
OURS: Final = frozenset(
    {
        "accept-encoding",
        "authorization",
        "connection",
        "content-length",
        "expect",
        "host",
        "idempotency-key",
        "keep-alive",
        "te",
        "traceparent",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""Headers that a target cannot set: Horae, its auth or the connection sets them."""
OUR_PREFIXES: Final = ("horae-", "proxy-", "webhook-")


@lru_cache(maxsize=10_000)  # a node checks the same few URLs again and again
def check_url(url: str) -> None:
    """Refuse anything but a plain http or https URL of visible ASCII; other characters must be encoded."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise Invalid(f"{url!r} is not a URL: {error}") from error
    if parts.scheme not in {"http", "https"} or not parts.hostname or port == 0:
        raise Invalid(f"a target needs an http or https URL with a host, not {url!r}")
    if not VISIBLE.fullmatch(url):
        raise Invalid(f"a URL is visible ASCII, with everything else percent-encoded (xn-- in names), not {url!r}")
    if parts.username is not None:
        raise Invalid("a URL has no user and password in it; name a secret under auth")


def check_header(name: str, value: str) -> None:
    """Refuse headers that Horae sets itself, headers for credentials, and values that could end a line."""
    if not HEADER_NAME.fullmatch(name):
        raise Invalid(f"{name!r} is not the name of a header")
    if name.lower() in OURS or name.lower().startswith(OUR_PREFIXES):
        raise Invalid(f"the header {name!r} is not free: it is sent by us, or by auth and signing")
    if not is_sendable(value):
        raise Invalid(f"the value of header {name!r} has a control character in it")


def is_sendable(value: str) -> bool:
    """Whether a header may carry the value: it has no character that ends a line or a string."""
    return UNSENDABLE.search(value) is None
