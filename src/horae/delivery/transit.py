"""Key-encryption keys that stay elsewhere: the transit engine of HashiCorp Vault or OpenBao, over HTTP.

Three calls: `encrypt`, `decrypt` and `rewrap` of one named key. The data keys that it unwrapped stay in memory, so an
outage of the engine stops only what was never opened here.
"""

from base64 import b64encode
from collections.abc import Callable
from typing import Final, NamedTuple
from urllib.parse import quote

import msgspec

from horae.delivery.client import Client
from horae.delivery.http import Answer, Failure, compose, place_of
from horae.delivery.tls import Identity
from horae.delivery.waiting import answered
from horae.domain.errors import KeysUnavailable, Unopenable
from horae.domain.foreign import Unreadable, read_base64, read_json

CONNECT, READ = 2.0, 5.0
REFUSED: Final = 400


class Transit(NamedTuple):
    """Where the engine is and which of its keys is meant. `token` is asked for at every call: it may be renewed."""

    url: str
    key: str
    token: Callable[[], str]
    mount: str = "transit"
    authority: str | None = None


class _Data(msgspec.Struct):
    ciphertext: str = ""
    plaintext: str = ""


class _Said(msgspec.Struct):
    data: _Data


class TransitKek:
    """A provider of key-encryption keys behind HTTP."""

    name = "transit"

    def __init__(self, client: Client, transit: Transit) -> None:
        self._client = client
        self._transit = transit
        self._identity = Identity(None, transit.authority) if transit.authority else None

    async def current(self) -> str:
        """The latest version of the key, as the engine shows it in whatever it wraps: `vault:v3:`."""
        engine, version, _ = (await self.wrap(b"")).split(":", 2)
        return f"{engine}:{version}:"

    async def wrap(self, clear: bytes) -> str:
        """Wrapped under the latest version of the key."""
        return (await self._ask("encrypt", {"plaintext": b64encode(clear).decode()})).ciphertext

    async def unwrap(self, wrapped: str) -> bytes:
        """What was wrapped under any version of the key that the engine still has."""
        told = await self._ask("decrypt", {"ciphertext": wrapped})
        try:
            return read_base64(told.plaintext)
        except Unreadable as error:
            raise KeysUnavailable("the key engine answered something that is no key") from error

    async def rewrap(self, wrapped: str) -> str:
        """Under the latest version, without ever leaving the engine."""
        return (await self._ask("rewrap", {"ciphertext": wrapped})).ciphertext

    def _token(self) -> str:
        """What proves who we are. Its file may be gone, or half written, while an agent renews it."""
        try:
            return self._transit.token()
        except (OSError, ValueError) as error:
            raise KeysUnavailable(f"the token of the key engine cannot be read: {type(error).__name__}") from error

    async def _ask(self, verb: str, body: dict[str, str]) -> _Data:
        at = self._transit
        place = place_of(f"{at.url.rstrip('/')}/v1/{at.mount}/{verb}/{quote(at.key, safe='')}", self._identity)
        headers = {"X-Vault-Token": self._token(), "X-Vault-Request": "true", "Content-Type": "application/json"}
        request = compose("POST", place, headers, msgspec.json.encode(body), CONNECT, READ)
        result: Answer | Failure = await answered(lambda done: self._client.send(request, done))
        if isinstance(result, Failure):
            raise KeysUnavailable(f"the key engine did not answer {verb}: {result.message}")
        if result.status == REFUSED and verb != "encrypt":
            raise Unopenable(f"the key engine refused to {verb} a data key: it was not wrapped there, or was changed")
        if result.status != 200:
            raise KeysUnavailable(f"the key engine answered {verb} with {result.status}")
        try:
            said = read_json(result.body, _Said).data
        except Unreadable as error:
            raise KeysUnavailable(f"what the key engine answered {verb} with cannot be read") from error
        if verb != "decrypt" and said.ciphertext.count(":") < 2:
            raise KeysUnavailable(f"what the key engine answered {verb} with is no wrapped key")
        return said
