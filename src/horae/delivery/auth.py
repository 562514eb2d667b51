"""What the secrets a target names come to at the moment of sending."""

from base64 import b64encode
from typing import Final, NamedTuple
from uuid import UUID

from horae.delivery.http import host_of
from horae.delivery.secrets import Secrets, Unsendable, take
from horae.delivery.signing import Keys, keys_of
from horae.delivery.tls import Identity
from horae.domain.auth import BasicAuth, BearerAuth, MtlsAuth, OAuthAuth
from horae.domain.egress import Egress
from horae.domain.outcomes import ErrorCode
from horae.domain.targets import HttpTarget
from horae.domain.urls import VISIBLE


class Grant(NamedTuple):
    """What a token is fetched with, and for whom it is kept."""

    tenant_id: UUID
    auth: OAuthAuth
    secret: str
    egress: Egress | None = None

    def __repr__(self) -> str:
        return "Grant(…)"  # it holds a secret


class Access(NamedTuple):
    """Who we are on the wire: a TLS identity, an `Authorization` line, keys to sign with, a token to be fetched.

    `egress` is where the tenant's calls may go, None where the deployment's rules hold.
    """

    identity: Identity | None = None
    line: str = ""
    keys: Keys = ()
    grant: Grant | None = None
    egress: Egress | None = None

    def within(self, egress: Egress) -> "Access":
        """The same for a tenant with rules of its own; its tokens are fetched by them too."""
        grant = None if self.grant is None else self.grant._replace(egress=egress)
        return self._replace(egress=egress, grant=grant)

    def __repr__(self) -> str:
        return "Access(…)"  # it holds secrets


OPEN: Final = Access()


def access(target: HttpTarget, tenant_id: UUID, secrets: Secrets) -> Access:
    """Look up what a target names; raises `Unsendable` where something is missing or unusable."""
    if target.auth is None and target.signing is None and target.ca is None:
        return OPEN
    line, certificate, grant, host = "", None, None, host_of(target.url)
    match target.auth:
        case None:
            pass
        case BearerAuth(token):
            line = bearer(take(secrets, tenant_id, token, host), token)
        case BasicAuth(username, password):
            pair = f"{username}:{take(secrets, tenant_id, password, host)}"
            line = f"Authorization: Basic {b64encode(pair.encode()).decode()}\r\n"
        case MtlsAuth(name):
            certificate = take(secrets, tenant_id, name, host)
        case OAuthAuth(token_url=url, client_secret=name):  # what it buys is sent to the target: both are bound
            grant = Grant(tenant_id, target.auth, take(secrets, tenant_id, name, host_of(url), host))
    authority = take(secrets, tenant_id, target.ca, host) if target.ca else None
    identity = Identity(certificate, authority) if certificate or authority else None
    return Access(identity, line, _keys(target, tenant_id, secrets), grant)


def bearer(token: str, name: str) -> str:
    """The `Authorization` line of a token; what could end the line is not sent."""
    if not VISIBLE.fullmatch(token):
        raise Unsendable(ErrorCode.NO_SECRET, f"the token {name!r} is not visible ASCII, and no header can carry it")
    return f"Authorization: Bearer {token}\r\n"


def _keys(target: HttpTarget, tenant_id: UUID, secrets: Secrets) -> Keys:
    if target.signing is None:
        return ()
    try:
        return keys_of(take(secrets, tenant_id, target.signing, host_of(target.url)))
    except ValueError as error:
        message = f"the secret {target.signing!r} cannot sign: {error}"
        raise Unsendable(ErrorCode.NO_SECRET, message) from error
