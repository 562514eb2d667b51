"""Speaks to the OpenID issuer: where its doors are, which keys it signs with, and codes for tokens."""

import asyncio
from base64 import b64encode
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import quote_plus, urlencode

import msgspec

from horae.delivery.client import Client, ask
from horae.delivery.http import Answer, Request, compose, place_of
from horae.domain.errors import Invalid, Unavailable
from horae.domain.foreign import Unreadable, read_json
from horae.domain.urls import check_url
from horae.runtime.clock import boottime
from horae.runtime.telemetry import log

Said = TypeVar("Said")
CONNECT, READ = 3.0, 10.0
METADATA_FOR: Final = 3600.0
KEYS_FOR: Final = 600.0
KEYS_AGAIN: Final = 2.0
"""Seconds between two readings: tokens that name made-up keys cost the issuer little."""
WELL_KNOWN: Final = "/.well-known/openid-configuration"


class Relying(NamedTuple):
    """Who we are to the issuer. Without a secret we are a public client, and PKCE alone proves that a code is ours."""

    issuer: str
    client_id: str
    secret: str


class Metadata(msgspec.Struct, frozen=True):
    """What an issuer says of itself."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str


class _Keys(msgspec.Struct):
    keys: list[Any]


class _Tokens(msgspec.Struct):
    id_token: str


class Issuer:
    """One per process. It remembers what the issuer said, for a while."""

    def __init__(self, client: Client, relying: Relying) -> None:
        self.relying = relying
        self._client = client
        self._metadata: tuple[float, Metadata] | None = None
        self._keys: list[Any] = []
        self._read_at = self._asked_at = float("-inf")
        self._reading = asyncio.Lock()

    async def metadata(self) -> Metadata:
        """Where its doors are. One that calls itself otherwise than we know it is not believed."""
        now = boottime()
        if self._metadata is None or self._metadata[0] <= now:
            found = await self._read(self.relying.issuer.rstrip("/") + WELL_KNOWN, Metadata)
            if found.issuer != self.relying.issuer:
                raise Unavailable(f"the issuer calls itself {found.issuer!r}")
            _check_endpoints(found)
            self._metadata = (now + METADATA_FOR, found)
        return self._metadata[1]

    async def keys(self, kid: str | None) -> list[Any]:
        """The keys it signs with. Where one is not among them it may be new: then they are read again, not too often.

        Whoever asks for a key that is not there waits for the next reading, together with all others who do.
        """
        began = boottime()
        if not self._knows(kid):
            async with self._reading:
                if self._asked_at < began and not self._knows(kid):
                    await asyncio.sleep(max(0.0, self._asked_at + KEYS_AGAIN - boottime()))
                    self._asked_at = asked_at = boottime()  # also where it fails
                    self._keys = (await self._read((await self.metadata()).jwks_uri, _Keys)).keys
                    self._read_at = asked_at
        if boottime() - self._read_at > KEYS_FOR:  # a key may have been withdrawn since
            raise Unavailable("the keys of the issuer cannot be read")
        return self._keys

    def _knows(self, kid: str | None) -> bool:
        """Without a name a key may be an old one or a new one: only what was read just now says."""
        if kid is None:
            return boottime() - self._read_at <= KEYS_AGAIN
        named = any(isinstance(key, dict) and key.get("kid") == kid for key in self._keys)
        return named and boottime() - self._read_at <= KEYS_FOR

    async def exchange(self, code: str, verifier: str, redirect_url: str) -> str | None:
        """The ID token for a code; None when the issuer will not have that code."""
        asked = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_url,
            "code_verifier": verifier,
            "client_id": self.relying.client_id,
        }
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
        if self.relying.secret:
            pair = f"{quote_plus(self.relying.client_id)}:{quote_plus(self.relying.secret)}"
            headers["Authorization"] = f"Basic {b64encode(pair.encode()).decode()}"
        place = place_of((await self.metadata()).token_endpoint)
        answer = await self._answer(compose("POST", place, headers, urlencode(asked).encode(), CONNECT, READ))
        if 400 <= answer.status < 500:
            log.info("login.code_refused", status=answer.status)
            return None
        return self._decoded(answer, _Tokens).id_token

    async def close(self) -> None:
        """Hang up."""
        await self._client.close()

    async def _read(self, url: str, kind: type[Said]) -> Said:
        request = compose("GET", place_of(url), {"Accept": "application/json"}, b"", CONNECT, READ)
        return self._decoded(await self._answer(request), kind)

    async def _answer(self, request: Request) -> Answer:
        answer = await ask(self._client, request)
        if not isinstance(answer, Answer):
            raise Unavailable(f"the issuer cannot be asked: {answer.message}")
        return answer

    def _decoded(self, answer: Answer, kind: type[Said]) -> Said:
        if answer.status != 200 or answer.cut:
            raise Unavailable(f"the issuer answered {answer.status}")
        try:
            return read_json(answer.body, kind)
        except Unreadable as error:
            raise Unavailable("what the issuer said cannot be read") from error


def _check_endpoints(found: Metadata) -> None:
    """Refuse metadata with an endpoint that no request can be sent to."""
    try:
        for url in (found.authorization_endpoint, found.token_endpoint, found.jwks_uri):
            check_url(url)
    except Invalid as error:
        raise Unavailable("the issuer names an endpoint that is no URL") from error
