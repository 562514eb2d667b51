"""How we show a target who we are. Secrets are named, never written: the tenant's own store holds their values."""

import re
from typing import Final

import msgspec

from horae.domain.errors import Invalid
from horae.domain.urls import check_url

SECRET_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,100}")


class BearerAuth(msgspec.Struct, frozen=True, tag_field="kind", tag="bearer"):
    """`Authorization: Bearer`, with the secret of this name."""

    token: str

    def __post_init__(self) -> None:
        check_secret_name(self.token)


class BasicAuth(msgspec.Struct, frozen=True, tag_field="kind", tag="basic"):
    """`Authorization: Basic`, with a user's name and the name of the secret that is the password."""

    username: str
    password: str

    def __post_init__(self) -> None:
        check_secret_name(self.password)
        if ":" in self.username or not self.username.isprintable():
            raise Invalid("a username for basic auth is printable and has no colon")


class MtlsAuth(msgspec.Struct, frozen=True, tag_field="kind", tag="mtls"):
    """A client certificate: the secret of this name holds its chain and its key as PEM."""

    certificate: str

    def __post_init__(self) -> None:
        check_secret_name(self.certificate)


class OAuthAuth(msgspec.Struct, frozen=True, tag_field="kind", tag="oauth", omit_defaults=True):
    """OAuth 2.0 client credentials: a bearer token fetched from `token_url` and used until it expires."""

    token_url: str
    client_id: str
    client_secret: str
    scope: str = ""
    audience: str = ""

    def __post_init__(self) -> None:
        check_url(self.token_url)
        check_secret_name(self.client_secret)


Auth = BearerAuth | BasicAuth | MtlsAuth | OAuthAuth


def check_secret_name(name: str) -> None:
    """Refuse what cannot be the name of a secret; a value written here by mistake usually cannot."""
    if not SECRET_NAME.fullmatch(name):
        raise Invalid("a secret is given by its name: 1 to 100 letters, digits, dots, dashes or underscores")


def secrets_in(auth: Auth | None, *others: str | None) -> list[str]:
    """The names of all secrets behind it and beside it."""
    match auth:
        case None:
            pass
        case (
            BearerAuth(token=name)
            | BasicAuth(password=name)
            | MtlsAuth(certificate=name)
            | OAuthAuth(client_secret=name)
        ):
            others = (name, *others)
    return [name for name in others if name is not None]
