"""The cookie of a session, and what proves that a request made with it was made by our own pages.

A browser sends the cookie with requests that other sites cause, too. So whatever changes something must also bring the
session's CSRF token in a header, which no other site can read or set, and must not say that it comes from elsewhere.
"""

import hmac
from collections.abc import Mapping
from hashlib import sha256
from typing import Final
from urllib.parse import urlsplit
from uuid import UUID

from horae.domain.errors import Forbidden, NotFound, Unauthenticated
from horae.domain.ids import LENGTH, Prefix, letters, private
from horae.security.credentials import SECRET_LENGTH, Credential

SESSION: Final = "__Host-horae"
LOGIN: Final = "__Host-horae-login"
"""Browsers take a cookie so named only over TLS (or from this machine), for this host alone, for all paths."""
HEADER: Final = "horae-csrf"
SAFE: Final = frozenset({"GET", "HEAD"})
OWN: Final = frozenset({"same-origin", "none"})


def text_of(credential: Credential) -> str:
    """A session as its cookie has it."""
    return letters(credential.key_id) + credential.secret


def read(text: str) -> Credential:
    """A session out of its cookie. Every way of being wrong is answered the same."""
    if len(text) != LENGTH + SECRET_LENGTH or not text.isascii() or not text.isalnum():
        raise Unauthenticated("this is not a session of ours")
    try:
        return Credential(private(Prefix.SESSION, f"{Prefix.SESSION}_{text[:LENGTH]}"), text[LENGTH:])
    except NotFound as error:
        raise Unauthenticated("this is not a session of ours") from error


def cookie(name: str, value: str, seconds: float) -> str:
    """A `Set-Cookie`: unreadable for scripts, only over TLS, not sent along with what other sites post."""
    return f"{name}={value}; Path=/; Max-Age={int(seconds)}; Secure; HttpOnly; SameSite=Lax"


class Csrf:
    """Tokens bound to a session, under the deployment's secret: nothing is stored for them."""

    def __init__(self, secret: str) -> None:
        self._key = sha256(b"csrf\0" + secret.encode()).digest()

    def token(self, session_id: UUID) -> str:
        """The token that pages of ours send with every change."""
        return hmac.digest(self._key, session_id.bytes, "sha256").hex()

    def check(self, method: str, headers: Mapping[str, str], session_id: UUID) -> None:
        """Refuse a change that another site may have caused."""
        if method in SAFE:
            return
        check_origin(headers)
        if not hmac.compare_digest(headers.get(HEADER, "").encode(), self.token(session_id).encode()):
            raise Forbidden("a change made with a session needs its Horae-CSRF header, as /api/v1/me tells it")


def check_origin(headers: Mapping[str, str]) -> None:
    """Refuse what says that it comes from another site."""
    origin = headers.get("origin")
    if headers.get("sec-fetch-site", "none") not in OWN or (
        origin is not None and _site_of(origin) != headers.get("host")
    ):
        raise Forbidden("this was asked for by another site")


def _site_of(origin: str) -> str:
    try:
        return urlsplit(origin).netloc
    except ValueError:  # a bracket that never closes, for one
        return ""
