"""OAuth 2.0 client credentials: tokens fetched when needed, used until they expire, shared by all who wait."""

import asyncio
from base64 import b64encode
from collections.abc import Callable
from typing import Final, NamedTuple
from urllib.parse import quote_plus, urlencode

import msgspec

from horae.delivery.auth import Grant
from horae.delivery.client import Client
from horae.delivery.http import Answer, Failure, Request, compose, failed, place_of
from horae.domain.answers import judge
from horae.domain.foreign import Unreadable, read_json
from horae.domain.outcomes import ErrorCode, Outcome, Retryable, Unrecoverable
from horae.domain.urls import VISIBLE
from horae.runtime.telemetry import log

DEFAULT_LIFE: Final = 300.0
MARGIN: Final = 0.1  # of its life: a token must not expire on its way
MOST_TOKENS: Final = 10_000
SLACK_S: Final = 0.5
"""How much later than its timeouts a client may give up a request."""
LONGEST_LIFE_S: Final = 86_400.0
"""A token is fetched anew after a day, however long its endpoint says that it lives."""
TOO_LATE: Final = Retryable(ErrorCode.TIMEOUT, "no token: its endpoint took longer than this call may")


class Token(NamedTuple):
    """A token in use. `fresh`: it was fetched for those who get it now."""

    value: str
    until: float
    fresh: bool = False

    def __repr__(self) -> str:
        return "Token(…)"


class _Said(msgspec.Struct):
    access_token: str
    expires_in: float = DEFAULT_LIFE


Then = Callable[[Token | Outcome], None]


class _Waiter(NamedTuple):
    """Who goes on with a token, and until when: its slot ends after that, and the call may be sent by another."""

    until: float
    then: Then


class Tokens:
    """Remembers tokens by what they were fetched with."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._loop = asyncio.get_running_loop()
        self._kept: dict[Grant, Token] = {}
        self._waiting: dict[Grant, list[_Waiter]] = {}

    def use(self, grant: Grant, connect_timeout: float, read_timeout: float, then: Then) -> None:
        """Go on with a token: at once with one that is kept, otherwise when it was fetched, or could not be.

        Whoever waited for longer than its own timeouts goes on without one, whoever asked for it.
        """
        kept = self._kept.get(grant)
        if kept is not None and kept.until > self._loop.time():
            then(kept)
            return
        waiter = _Waiter(self._loop.time() + connect_timeout + read_timeout + SLACK_S, then)
        if grant in self._waiting:
            self._waiting[grant].append(waiter)
            return
        self._waiting[grant] = [waiter]
        self._client.send(_request(grant, connect_timeout, read_timeout), lambda result: self._heard(grant, result))

    def drop(self, grant: Grant, token: Token) -> None:
        """The target would not have this token: fetch another one next time."""
        kept = self._kept.get(grant)
        if kept is not None and kept.value == token.value:
            del self._kept[grant]

    def _heard(self, grant: Grant, result: Answer | Failure) -> None:
        waiting, now = self._waiting.pop(grant), self._loop.time()
        token = _token(result, now)
        if isinstance(token, Token):
            if len(self._kept) >= MOST_TOKENS:
                self._kept.clear()
            self._kept[grant] = token._replace(fresh=False)
        for waiter in waiting:
            try:
                waiter.then(token if now <= waiter.until else TOO_LATE)
            except Exception:  # one who fails keeps nobody else from going on
                log.exception("token.unused")


def _request(grant: Grant, connect_timeout: float, read_timeout: float) -> Request:
    auth = grant.auth
    pair = f"{quote_plus(auth.client_id)}:{quote_plus(grant.secret)}"
    headers = {
        "Authorization": f"Basic {b64encode(pair.encode()).decode()}",
        "Content-Type": "application/x-www-form-urlencoded",
        "Accept": "application/json",
    }
    asked = {"grant_type": "client_credentials", "scope": auth.scope, "audience": auth.audience}
    body = urlencode({name: value for name, value in asked.items() if value}).encode()
    place = place_of(auth.token_url)
    place = place._replace(origin=place.origin._replace(egress=grant.egress))
    return compose("POST", place, headers, body, connect_timeout, read_timeout, grant.tenant_id)


def _token(result: Answer | Failure, now: float) -> Token | Outcome:
    """A token, or what its absence means for the attempt that waits for it."""
    if isinstance(result, Failure):
        return failed(result, "no token: ")
    match judge(result.status, result.headers):
        case Retryable(code, message, retry_after):
            return Retryable(code, f"no token: its endpoint {message}", retry_after)
        case Unrecoverable(code, message):
            return Unrecoverable(code, f"no token: its endpoint {message}")
    try:
        said = read_json(result.body, _Said, strict=False)
    except Unreadable as error:
        return Retryable(ErrorCode.PROTOCOL, f"no token: what its endpoint said cannot be read: {error}")
    if not VISIBLE.fullmatch(said.access_token):  # kept, it would fail every call until it expires
        return Retryable(ErrorCode.PROTOCOL, "no token: what its endpoint said is not visible ASCII")
    life_s = min(said.expires_in, LONGEST_LIFE_S)
    return Token(said.access_token, now + life_s * (1 - MARGIN), fresh=True)
