"""People who log in at an OpenID issuer: the authorization-code flow with PKCE, from our side.

What a browser has to bring back is in a sealed cookie for ten minutes: state, nonce and the verifier of its code.
A login that was used opens nothing again, whatever the issuer thinks of its code: the session's row remembers it.
"""

import hmac
import secrets
from base64 import urlsafe_b64encode
from hashlib import sha256
from typing import Final, NamedTuple
from urllib.parse import urlencode

import msgspec

from horae.delivery.oidc import Issuer
from horae.domain.errors import Invalid, Unauthenticated
from horae.domain.people import Person
from horae.runtime.telemetry import count
from horae.security import idtokens
from horae.security.idtokens import Expected, Refused
from horae.security.seals import Seals
from horae.service import sessions
from horae.service.sessions import Opened, Terms
from horae.store.cells import Store

LOGIN_SECONDS: Final = 600
PURPOSE: Final = "login"
REFUSED: Final = "this login was not accepted; begin again"


class Rules(NamedTuple):
    """How a deployment lets people in."""

    redirect_url: str
    algorithms: frozenset[str]
    scopes: str = "openid profile email"
    groups_claim: str = "groups"


class Begun(msgspec.Struct, array_like=True):
    """A login under way, as the browser keeps it for us."""

    state: str
    nonce: str
    verifier: str
    until: float
    tenant: str | None


class People:
    """One per process, where an issuer is configured."""

    def __init__(self, store: Store, issuer: Issuer, rules: Rules, seals: Seals, terms: Terms) -> None:
        self._store, self._issuer, self._rules, self._seals, self._terms = store, issuer, rules, seals, terms

    async def begin(self, tenant: str | None) -> tuple[str, str]:
        """Where to send the browser, and what it has to bring back."""
        begun = Begun(_random(), _random(), _random(), self._now() + LOGIN_SECONDS, tenant)
        challenge = urlsafe_b64encode(sha256(begun.verifier.encode()).digest()).rstrip(b"=").decode()
        asked = {
            "response_type": "code",
            "client_id": self._issuer.relying.client_id,
            "redirect_uri": self._rules.redirect_url,
            "scope": self._rules.scopes,
            "state": begun.state,
            "nonce": begun.nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        where = (await self._issuer.metadata()).authorization_endpoint
        return f"{where}{'&' if '?' in where else '?'}{urlencode(asked)}", self._seals.seal(PURPOSE, begun)

    async def finish(self, kept: str, state: str, code: str, issuer: str | None) -> Opened:
        """The session of who came back from the issuer."""
        begun = self._begun(kept, state)
        if issuer is not None and issuer != self._issuer.relying.issuer:
            raise self._refused("another issuer sent the browser back")
        token = await self._issuer.exchange(code, begun.verifier, self._rules.redirect_url)
        if token is None:
            raise self._refused("the issuer does not know the code")
        person = await self._person(token, begun.nonce)
        login = sha256(begun.state.encode()).digest()
        return await sessions.open_as(self._store, person, self._terms, tenant=begun.tenant, login=login)

    async def close(self) -> None:
        """Hang up."""
        await self._issuer.close()

    def _begun(self, kept: str, state: str) -> Begun:
        try:
            begun = msgspec.convert(self._seals.open(PURPOSE, kept), Begun)
        except (Invalid, msgspec.ValidationError) as error:
            raise self._refused("the browser began no login") from error
        if begun.until < self._now() or not hmac.compare_digest(begun.state.encode(), state.encode()):
            raise self._refused("the state is another, or too old")
        return begun

    async def _person(self, token: str, nonce: str) -> Person:
        rules, relying = self._rules, self._issuer.relying
        expected = Expected(relying.issuer, relying.client_id, nonce, rules.algorithms, self._now())
        try:
            header = idtokens.header_of(token, rules.algorithms)
            key = idtokens.key_for(header, await self._issuer.keys(header.kid))
            if key is None:
                raise Refused("its key is not one of the issuer's")
            claims = idtokens.claims_of(token, key, expected)
        except Refused as why:
            raise self._refused(str(why)) from why
        names = [claims[one] for one in NAMES if isinstance(claims.get(one), str)]
        name = next((one[:LONGEST_NAME] for one in names if one and one.isprintable()), "")
        return Person(claims["sub"], name, idtokens.groups_in(claims, rules.groups_claim))

    def _refused(self, why: str) -> Unauthenticated:
        """What the log hears, and what the browser is told."""
        count("login.refused", why=why)
        return Unauthenticated(REFUSED)

    def _now(self) -> float:
        return self._store.clock.now().timestamp()


NAMES: Final = ("name", "preferred_username", "email")
LONGEST_NAME: Final = 200
"""Characters that are kept of a person's name."""


def _random() -> str:
    return secrets.token_urlsafe(32)
