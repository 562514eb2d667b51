"""Login of people at an OpenID issuer: the authorization-code flow with PKCE.

State, nonce and code verifier are in a signed cookie of the browser, which is valid for ten minutes. One login opens
one session: the session's row remembers the login, even if the issuer accepts its code again.
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
from horae.domain.identity.people import LONGEST_PERSON_NAME, Person
from horae.runtime.telemetry import count
from horae.security import idtokens
from horae.security.idtokens import ExpectedClaims, TokenRefused
from horae.security.signed_texts import Signer
from horae.service.context import PlatformContext
from horae.service.identity import sessions
from horae.service.identity.sessions import OpenedSession, Terms
from horae.store.protocol import StoreProtocol

LOGIN_TIMEOUT_S: Final = 600
PURPOSE: Final = "login"
REFUSED: Final = "this login was not accepted; begin again"


class Rules(NamedTuple):
    """How a deployment lets people log in."""

    redirect_url: str
    algorithms: frozenset[str]
    scopes: str = "openid profile email"
    groups_claim: str = "groups"


class LoginState(msgspec.Struct, array_like=True):
    """A login under way, as the signed cookie holds it."""

    state: str
    nonce: str
    verifier: str
    until: float
    tenant: str | None


class People:
    """The logins of one process, where an issuer is configured."""

    def __init__(self, store: StoreProtocol, issuer: Issuer, rules: Rules, signer: Signer, terms: Terms) -> None:
        self._store, self._issuer, self._rules, self._signer, self._terms = store, issuer, rules, signer, terms

    async def begin(self, tenant: str | None) -> tuple[str, str]:
        """Returns the URL to redirect the browser to, and the cookie that it has to send back."""
        login_state = LoginState(_random(), _random(), _random(), self._now() + LOGIN_TIMEOUT_S, tenant)
        challenge = urlsafe_b64encode(sha256(login_state.verifier.encode()).digest()).rstrip(b"=").decode()
        asked = {
            "response_type": "code",
            "client_id": self._issuer.relying.client_id,
            "redirect_uri": self._rules.redirect_url,
            "scope": self._rules.scopes,
            "state": login_state.state,
            "nonce": login_state.nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        where = (await self._issuer.metadata()).authorization_endpoint
        return f"{where}{'&' if '?' in where else '?'}{urlencode(asked)}", self._signer.sign(PURPOSE, login_state)

    async def finish(self, kept: str, state: str, code: str, issuer: str | None) -> OpenedSession:
        """Returns the session of the person whom the issuer sent back."""
        login_state = self._login_state(kept, state)
        if issuer is not None and issuer != self._issuer.relying.issuer:
            raise self._refusal("another issuer sent the browser back")
        token = await self._issuer.exchange(code, login_state.verifier, self._rules.redirect_url)
        if token is None:
            raise self._refusal("the issuer does not know the code")
        person = await self._person(token, login_state.nonce)
        login = sha256(login_state.state.encode()).digest()
        ctx = PlatformContext(self._store, person.principal)
        return await sessions.open_as(ctx, person, self._terms, tenant=login_state.tenant, login=login)

    async def close(self) -> None:
        """Close the connections to the issuer."""
        await self._issuer.close()

    def _login_state(self, kept: str, state: str) -> LoginState:
        try:
            login_state = msgspec.convert(self._signer.verify(PURPOSE, kept), LoginState)
        except (Invalid, msgspec.ValidationError) as error:
            raise self._refusal("the browser began no login") from error
        if login_state.until < self._now() or not hmac.compare_digest(login_state.state.encode(), state.encode()):
            raise self._refusal("the state is another, or too old")
        return login_state

    async def _person(self, token: str, nonce: str) -> Person:
        rules, relying = self._rules, self._issuer.relying
        expected = ExpectedClaims(relying.issuer, relying.client_id, nonce, rules.algorithms, self._now())
        try:
            header = idtokens.header_of(token, rules.algorithms)
            key = idtokens.key_for(header, await self._issuer.keys(header.kid))
            if key is None:
                raise TokenRefused("its key is not one of the issuer's")
            claims = idtokens.claims_of(token, key, expected)
        except TokenRefused as why:
            raise self._refusal(str(why)) from why
        names = [claims[one] for one in NAMES if isinstance(claims.get(one), str)]
        name = next((one[:LONGEST_PERSON_NAME] for one in names if one and one.isprintable()), "")
        return Person(claims["sub"], name, idtokens.groups_in(claims, rules.groups_claim))

    def _refusal(self, why: str) -> Unauthenticated:
        """Counts the reason, and returns a refusal for the browser that does not contain it."""
        count("login.refused", why=why)
        return Unauthenticated(REFUSED)

    def _now(self) -> float:
        return self._store.clock.now().timestamp()


NAMES: Final = ("name", "preferred_username", "email")


def _random() -> str:
    return secrets.token_urlsafe(32)
