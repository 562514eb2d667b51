"""OAuth 2.0 client credentials: a token is fetched when needed, used until it expires, and shared by its callers."""

import asyncio
from base64 import b64encode
from collections.abc import Callable
from typing import Final, NamedTuple
from urllib.parse import quote_plus, urlencode

import msgspec

from horae.delivery.auth import TokenGrant
from horae.delivery.client import Client
from horae.delivery.http import Failure, HttpAnswer, HttpRequest, build_request, outcome_of_failure, parse_url
from horae.domain.foreign import Unreadable, read_json
from horae.domain.instances.outcomes import ErrorCode, Outcome, Retryable, Unrecoverable
from horae.domain.targets.answers import judge
from horae.domain.targets.urls import VISIBLE
from horae.runtime.telemetry import log

DEFAULT_TOKEN_LIFE_S: Final = 300.0
"""Seconds that a token lives where its endpoint names no time."""
UNUSED_LIFE_SHARE: Final = 0.1
"""The part of its life that a token is not used for: it must not expire on its way to the target."""
MOST_TOKENS: Final = 10_000
"""Tokens that are kept; when there are more, all are dropped."""
LATE_FAILURE_SLACK_S: Final = 0.5
"""How much later than its timeouts the client may report a failure."""
MAX_TOKEN_LIFE_S: Final = 86_400.0
"""A token is fetched again after a day, even if its endpoint names a longer life."""
TOO_LATE: Final = Retryable(ErrorCode.TIMEOUT, "no token: its endpoint took longer than this call may")
"""The outcome of a call that waited for a token longer than its own timeouts."""


class Token(NamedTuple):
    """A token in use; `until` is in loop time. `fresh`: it was fetched for the caller that receives it now."""

    value: str
    until: float
    fresh: bool = False

    def __repr__(self) -> str:
        return "Token(…)"


class _TokenAnswer(msgspec.Struct):
    access_token: str
    expires_in: float = DEFAULT_TOKEN_LIFE_S


Then = Callable[[Token | Outcome], None]


class _Waiter(NamedTuple):
    """A callback that waits for a token, and until when. After that time another node may send the call."""

    until: float
    then: Then


class Tokens:
    """Remembers tokens by their grant."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._loop = asyncio.get_running_loop()
        self._kept: dict[TokenGrant, Token] = {}
        self._waiting: dict[TokenGrant, list[_Waiter]] = {}

    def use(self, grant: TokenGrant, connect_timeout: float, read_timeout: float, then: Then) -> None:
        """Call `then` with a token, or with the outcome that its absence means.

        1. A kept token that has not expired is passed at once.
        2. Otherwise the first caller fetches a token, and later callers of the same grant wait for it.
        3. A caller that waited longer than its own timeouts gets `TOO_LATE`.
        """
        kept = self._kept.get(grant)
        if kept is not None and kept.until > self._loop.time():
            then(kept)
            return
        waiter = _Waiter(self._loop.time() + connect_timeout + read_timeout + LATE_FAILURE_SLACK_S, then)
        if grant in self._waiting:
            self._waiting[grant].append(waiter)
            return
        self._waiting[grant] = [waiter]
        self._client.send(
            _request(grant, connect_timeout, read_timeout), lambda result: self._finish_request(grant, result)
        )

    def drop(self, grant: TokenGrant, token: Token) -> None:
        """Forget a token that the target refused: the next call fetches another."""
        kept = self._kept.get(grant)
        if kept is not None and kept.value == token.value:
            del self._kept[grant]

    def _finish_request(self, grant: TokenGrant, result: HttpAnswer | Failure) -> None:
        waiting, now = self._waiting.pop(grant), self._loop.time()
        token = _token(result, now)
        if isinstance(token, Token):
            if len(self._kept) >= MOST_TOKENS:
                self._kept.clear()
            self._kept[grant] = token._replace(fresh=False)
        for waiter in waiting:
            try:
                waiter.then(token if now <= waiter.until else TOO_LATE)
            except Exception:  # one failing callback must not stop the others
                log.exception("oauth.callback_failed")


def _request(grant: TokenGrant, connect_timeout: float, read_timeout: float) -> HttpRequest:
    auth = grant.auth
    pair = f"{quote_plus(auth.client_id)}:{quote_plus(grant.secret)}"
    headers = {
        "Authorization": f"Basic {b64encode(pair.encode()).decode()}",
        "Content-Type": "application/x-www-form-urlencoded",
        "Accept": "application/json",
    }
    asked = {"grant_type": "client_credentials", "scope": auth.scope, "audience": auth.audience}
    body = urlencode({name: value for name, value in asked.items() if value}).encode()
    place = parse_url(auth.token_url)
    place = place._replace(origin=place.origin._replace(egress=grant.egress))
    return build_request("POST", place, headers, body, connect_timeout, read_timeout, grant.tenant_id)


def _token(result: HttpAnswer | Failure, now: float) -> Token | Outcome:
    """Return the token of an answer, or the outcome for the attempt that waits for it."""
    if isinstance(result, Failure):
        return outcome_of_failure(result, "no token: ")
    match judge(result.status, result.headers):
        case Retryable(code, message, retry_after):
            return Retryable(code, f"no token: its endpoint {message}", retry_after)
        case Unrecoverable(code, message):
            return Unrecoverable(code, f"no token: its endpoint {message}")
    try:
        said = read_json(result.body, _TokenAnswer, strict=False)
    except Unreadable as error:
        return Retryable(ErrorCode.PROTOCOL, f"no token: what its endpoint said cannot be read: {error}")
    if not VISIBLE.fullmatch(said.access_token):  # a kept token of this kind would fail every call until it expires
        return Retryable(ErrorCode.PROTOCOL, "no token: what its endpoint said is not visible ASCII")
    life_s = min(said.expires_in, MAX_TOKEN_LIFE_S)
    return Token(said.access_token, now + life_s * (1 - UNUSED_LIFE_SHARE), fresh=True)
