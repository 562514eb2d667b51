"""Key-encryption keys in the transit engine of HashiCorp Vault or OpenBao, over HTTP.

It uses `encrypt`, `decrypt` and `rewrap` of one named key. Unwrapped data keys stay in memory, so an outage of the
engine affects only data keys that this process has not unwrapped yet.
"""

from base64 import b64encode
from collections.abc import Callable
from typing import Final, NamedTuple
from urllib.parse import quote

import msgspec

from horae.delivery.client import Client
from horae.delivery.http import Failure, HttpAnswer, build_request, parse_url
from horae.delivery.tls import Identity
from horae.delivery.waiting import wait_for_callback
from horae.domain.errors import KeysUnavailable, Unopenable
from horae.domain.foreign import Unreadable, read_base64, read_json

CONNECT_TIMEOUT_S: Final = 2.0
READ_TIMEOUT_S: Final = 5.0
REFUSED: Final = 400


class Transit(NamedTuple):
    """The address of the engine and the name of its key. `token` is called at every request: it may be renewed."""

    url: str
    key: str
    token: Callable[[], str]
    mount: str = "transit"
    authority: str | None = None


class _Data(msgspec.Struct):
    ciphertext: str = ""
    plaintext: str = ""


class _EngineAnswer(msgspec.Struct):
    data: _Data


class TransitKek:
    """A provider of key-encryption keys over HTTP."""

    name = "transit"

    def __init__(self, client: Client, transit: Transit) -> None:
        self._client = client
        self._transit = transit
        self._identity = Identity(None, transit.authority) if transit.authority else None

    async def current(self) -> str:
        """Return the prefix of the latest key version, as in every text that it wraps: `vault:v3:`."""
        engine, version, _ = (await self.wrap(b"")).split(":", 2)
        return f"{engine}:{version}:"

    async def wrap(self, clear: bytes) -> str:
        """Wrap bytes under the latest version of the key."""
        return (await self._ask("encrypt", {"plaintext": b64encode(clear).decode()})).ciphertext

    async def unwrap(self, wrapped: str) -> bytes:
        """Unwrap a text that was wrapped under any version that the engine still has."""
        answer = await self._ask("decrypt", {"ciphertext": wrapped})
        try:
            return read_base64(answer.plaintext)
        except Unreadable as error:
            raise KeysUnavailable("the key engine answered something that is no key") from error

    async def rewrap(self, wrapped: str) -> str:
        """Wrap a data key under the latest version; its clear bytes do not leave the engine."""
        return (await self._ask("rewrap", {"ciphertext": wrapped})).ciphertext

    def _token(self) -> str:
        """Return the token of the engine. Its file may be missing or half written while it is being renewed."""
        try:
            return self._transit.token()
        except (OSError, ValueError) as error:
            raise KeysUnavailable(f"the token of the key engine cannot be read: {type(error).__name__}") from error

    async def _ask(self, verb: str, body: dict[str, str]) -> _Data:
        """Call the engine.

        No answer, or an unexpected one, raises `KeysUnavailable`. A refused `decrypt` or `rewrap` raises `Unopenable`.
        """
        at = self._transit
        place = parse_url(f"{at.url.rstrip('/')}/v1/{at.mount}/{verb}/{quote(at.key, safe='')}", self._identity)
        headers = {"X-Vault-Token": self._token(), "X-Vault-Request": "true", "Content-Type": "application/json"}
        request = build_request("POST", place, headers, msgspec.json.encode(body), CONNECT_TIMEOUT_S, READ_TIMEOUT_S)
        result: HttpAnswer | Failure = await wait_for_callback(lambda done: self._client.send(request, done))
        if isinstance(result, Failure):
            raise KeysUnavailable(f"the key engine did not answer {verb}: {result.message}")
        if result.status == REFUSED and verb != "encrypt":
            raise Unopenable(f"the key engine refused to {verb} a data key: it was not wrapped there, or was changed")
        if result.status != 200:
            raise KeysUnavailable(f"the key engine answered {verb} with {result.status}")
        try:
            said = read_json(result.body, _EngineAnswer).data
        except Unreadable as error:
            raise KeysUnavailable(f"what the key engine answered {verb} with cannot be read") from error
        if verb != "decrypt" and said.ciphertext.count(":") < 2:
            raise KeysUnavailable(f"what the key engine answered {verb} with is no wrapped key")
        return said
