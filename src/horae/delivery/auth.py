"""Turns the secrets that a target names into what a request needs, at the moment of sending."""

from base64 import b64encode
from typing import Final, NamedTuple
from uuid import UUID

from horae.delivery.http import host_of
from horae.delivery.secrets import Secrets, Unsendable, secret_for_hosts
from horae.delivery.signing import Keys, keys_of
from horae.delivery.tls import Identity
from horae.domain.instances.outcomes import ErrorCode
from horae.domain.targets.auth import BasicAuth, BearerAuth, MtlsAuth, OAuthAuth
from horae.domain.targets.egress import Egress
from horae.domain.targets.targets import HttpTarget
from horae.domain.targets.urls import VISIBLE


class TokenGrant(NamedTuple):
    """What an OAuth token is fetched with, and the tenant that it is kept for."""

    tenant_id: UUID
    auth: OAuthAuth
    secret: str
    egress: Egress | None = None

    def __repr__(self) -> str:
        return "TokenGrant(…)"  # it holds a secret


class Access(NamedTuple):
    """How we authenticate a request: TLS identity, `Authorization` line, signing keys, and the grant of an OAuth token.

    `egress` holds the egress rules of the tenant; None: the rules of the deployment apply.
    """

    identity: Identity | None = None
    line: str = ""
    keys: Keys = ()
    grant: TokenGrant | None = None
    egress: Egress | None = None

    def within(self, egress: Egress) -> "Access":
        """Return the same access under a tenant's own egress rules; its tokens are fetched under them too."""
        grant = None if self.grant is None else self.grant._replace(egress=egress)
        return self._replace(egress=egress, grant=grant)

    def __repr__(self) -> str:
        return "Access(…)"  # it holds secrets


OPEN: Final = Access()
"""The access of a target that names no secret."""


def access(target: HttpTarget, tenant_id: UUID, secrets: Secrets) -> Access:
    """Look up the secrets that a target names; raises `Unsendable` where one is missing or unusable."""
    if target.auth is None and target.signing is None and target.ca is None:
        return OPEN
    line, certificate, grant, host = "", None, None, host_of(target.url)
    match target.auth:
        case None:
            pass
        case BearerAuth(token):
            line = bearer(secret_for_hosts(secrets, tenant_id, token, host), token)
        case BasicAuth(username, password):
            pair = f"{username}:{secret_for_hosts(secrets, tenant_id, password, host)}"
            line = f"Authorization: Basic {b64encode(pair.encode()).decode()}\r\n"
        case MtlsAuth(name):
            certificate = secret_for_hosts(secrets, tenant_id, name, host)
        case OAuthAuth(token_url=url, client_secret=name):  # the token goes to the target: both hosts count
            grant = TokenGrant(tenant_id, target.auth, secret_for_hosts(secrets, tenant_id, name, host_of(url), host))
    authority = secret_for_hosts(secrets, tenant_id, target.ca, host) if target.ca else None
    identity = Identity(certificate, authority) if certificate or authority else None
    return Access(identity, line, _keys(target, tenant_id, secrets), grant)


def bearer(token: str, name: str) -> str:
    """Return the `Authorization` line of a token; refuses a token with characters that could end the line."""
    if not VISIBLE.fullmatch(token):
        raise Unsendable(ErrorCode.NO_SECRET, f"the token {name!r} is not visible ASCII, and no header can carry it")
    return f"Authorization: Bearer {token}\r\n"


def _keys(target: HttpTarget, tenant_id: UUID, secrets: Secrets) -> Keys:
    if target.signing is None:
        return ()
    try:
        return keys_of(secret_for_hosts(secrets, tenant_id, target.signing, host_of(target.url)))
    except ValueError as error:
        message = f"the secret {target.signing!r} cannot sign: {error}"
        raise Unsendable(ErrorCode.NO_SECRET, message) from error
