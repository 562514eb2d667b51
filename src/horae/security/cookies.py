"""The cookie of a session, and the CSRF check of a request that is made with it.

A browser sends the cookie also with requests that other sites cause. So a request that changes something must carry the
session's CSRF token in a header, which other sites cannot read or set, and must not name another origin.
"""

import hmac
from collections.abc import Mapping
from hashlib import sha256
from typing import Final
from urllib.parse import urlsplit
from uuid import UUID

from horae.domain.errors import Forbidden, NotFound, Unauthenticated
from horae.domain.ids import LENGTH, Prefix, encode_id, private
from horae.security.credentials import SECRET_LENGTH, Credential

SESSION: Final = "__Host-horae"
LOGIN: Final = "__Host-horae-login"
"""Browsers accept a `__Host-` cookie only over TLS (or from this machine), for this host alone, for all paths."""
HEADER: Final = "horae-csrf"
SAFE: Final = frozenset({"GET", "HEAD"})
"""Methods that change nothing."""
OWN: Final = frozenset({"same-origin", "none"})
"""Values of `Sec-Fetch-Site` for requests of our own pages, or of the person at the browser."""


def text_of(credential: Credential) -> str:
    """Return the value of a session's cookie."""
    return encode_id(credential.key_id) + credential.secret


def read(text: str) -> Credential:
    """Read a session from its cookie. Every malformed cookie gets the same answer."""
    if len(text) != LENGTH + SECRET_LENGTH or not text.isascii() or not text.isalnum():
        raise Unauthenticated("this is not a session of ours")
    try:
        return Credential(private(Prefix.SESSION, f"{Prefix.SESSION}_{text[:LENGTH]}"), text[LENGTH:])
    except NotFound as error:
        raise Unauthenticated("this is not a session of ours") from error


def cookie(name: str, value: str, seconds: float) -> str:
    """Return a `Set-Cookie` value: hidden from scripts, only over TLS, not sent with posts of other sites."""
    return f"{name}={value}; Path=/; Max-Age={int(seconds)}; Secure; HttpOnly; SameSite=Lax"


class Csrf:
    """CSRF tokens, derived from the session's id and the deployment's secret; none is stored."""

    def __init__(self, secret: str) -> None:
        self._key = sha256(b"csrf\0" + secret.encode()).digest()

    def token(self, session_id: UUID) -> str:
        """Return the token that our pages send with every change."""
        return hmac.digest(self._key, session_id.bytes, "sha256").hex()

    def check(self, method: str, headers: Mapping[str, str], session_id: UUID) -> None:
        """Refuse a change that another site may have caused."""
        if method in SAFE:
            return
        check_origin(headers)
        if not hmac.compare_digest(headers.get(HEADER, "").encode(), self.token(session_id).encode()):
            raise Forbidden("a change made with a session needs its Horae-CSRF header, as /api/v1/me tells it")


def check_origin(headers: Mapping[str, str]) -> None:
    """Refuse a request whose headers name another site."""
    origin = headers.get("origin")
    if headers.get("sec-fetch-site", "none") not in OWN or (
        origin is not None and _site_of(origin) != headers.get("host")
    ):
        raise Forbidden("this was asked for by another site")


def _site_of(origin: str) -> str:
    try:
        return urlsplit(origin).netloc
    except ValueError:  # for example an unclosed bracket
        return ""
