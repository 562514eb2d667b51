"""The OpenID issuer as a client sees it: its metadata, its signing keys, and the exchange of codes for tokens."""

import asyncio
from base64 import b64encode
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import quote_plus, urlencode

import msgspec

from horae.delivery.client import Client, ask
from horae.delivery.http import HttpAnswer, HttpRequest, build_request, parse_url
from horae.domain.errors import Invalid, Unavailable
from horae.domain.foreign import Unreadable, read_json
from horae.domain.targets.urls import check_url
from horae.runtime.clock import boottime
from horae.runtime.telemetry import log

Said = TypeVar("Said")
CONNECT_TIMEOUT_S: Final = 3.0
READ_TIMEOUT_S: Final = 10.0
METADATA_KEPT_S: Final = 3600.0
KEYS_KEPT_S: Final = 600.0
MIN_KEYS_INTERVAL_S: Final = 2.0
"""The least time between two requests for the keys: tokens that name made-up keys cost the issuer little."""
WELL_KNOWN: Final = "/.well-known/openid-configuration"


class RelyingParty(NamedTuple):
    """Our registration at the issuer. Without a secret we are a public client: only PKCE proves that a code is ours."""

    issuer: str
    client_id: str
    secret: str


class Metadata(msgspec.Struct, frozen=True):
    """The endpoints that an issuer publishes."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str


class _Keys(msgspec.Struct):
    keys: list[Any]


class _Tokens(msgspec.Struct):
    id_token: str


class Issuer:
    """The issuer, one per process. It remembers metadata and keys for a while."""

    def __init__(self, client: Client, relying: RelyingParty) -> None:
        self.relying = relying
        self._client = client
        self._metadata: tuple[float, Metadata] | None = None
        self._keys: list[Any] = []
        self._read_at = self._asked_at = float("-inf")
        self._reading = asyncio.Lock()

    async def metadata(self) -> Metadata:
        """Return the issuer's endpoints. Metadata with another issuer name than the configured one is refused."""
        now = boottime()
        if self._metadata is None or self._metadata[0] <= now:
            found = await self._read(self.relying.issuer.rstrip("/") + WELL_KNOWN, Metadata)
            if found.issuer != self.relying.issuer:
                raise Unavailable(f"the issuer calls itself {found.issuer!r}")
            _check_endpoints(found)
            self._metadata = (now + METADATA_KEPT_S, found)
        return self._metadata[1]

    async def keys(self, kid: str | None) -> list[Any]:
        """Return the issuer's signing keys, which include `kid` if the issuer has it.

        1. Keys that were read within `KEYS_KEPT_S` and include `kid` are returned at once.
        2. Otherwise `kid` may be new: the keys are read again, at most once in `MIN_KEYS_INTERVAL_S`.
        3. Concurrent callers wait for one lock and share one reading: a caller does not read again what was read after
           it began.
        4. Keys that are older than `KEYS_KEPT_S` are not used, because one of them may have been withdrawn.
        """
        began = boottime()
        if not self._knows(kid):
            async with self._reading:
                if self._asked_at < began and not self._knows(kid):
                    await asyncio.sleep(max(0.0, self._asked_at + MIN_KEYS_INTERVAL_S - boottime()))
                    self._asked_at = asked_at = boottime()  # also counts when the reading fails
                    self._keys = (await self._read((await self.metadata()).jwks_uri, _Keys)).keys
                    self._read_at = asked_at
        if boottime() - self._read_at > KEYS_KEPT_S:  # a key may have been withdrawn meanwhile
            raise Unavailable("the keys of the issuer cannot be read")
        return self._keys

    def _knows(self, kid: str | None) -> bool:
        """Whether the kept keys are recent enough for `kid`. Without a `kid` only keys that were read just now are."""
        if kid is None:
            return boottime() - self._read_at <= MIN_KEYS_INTERVAL_S
        named = any(isinstance(key, dict) and key.get("kid") == kid for key in self._keys)
        return named and boottime() - self._read_at <= KEYS_KEPT_S

    async def exchange(self, code: str, verifier: str, redirect_url: str) -> str | None:
        """Return the ID token for a code; None when the issuer refuses the code."""
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
        place = parse_url((await self.metadata()).token_endpoint)
        answer = await self._answer(
            build_request("POST", place, headers, urlencode(asked).encode(), CONNECT_TIMEOUT_S, READ_TIMEOUT_S)
        )
        if 400 <= answer.status < 500:
            log.info("login.code_refused", status=answer.status)
            return None
        return self._decode(answer, _Tokens).id_token

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _read(self, url: str, kind: type[Said]) -> Said:
        request = build_request(
            "GET", parse_url(url), {"Accept": "application/json"}, b"", CONNECT_TIMEOUT_S, READ_TIMEOUT_S
        )
        return self._decode(await self._answer(request), kind)

    async def _answer(self, request: HttpRequest) -> HttpAnswer:
        answer = await ask(self._client, request)
        if not isinstance(answer, HttpAnswer):
            raise Unavailable(f"the issuer cannot be asked: {answer.message}")
        return answer

    def _decode(self, answer: HttpAnswer, kind: type[Said]) -> Said:
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
