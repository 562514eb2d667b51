"""How a call authenticates itself to its target. A job holds the names of secrets, never their values."""

import re
from typing import Final

import msgspec

from horae.domain.errors import Invalid
from horae.domain.targets.urls import check_url

LONGEST_SECRET_NAME: Final = 100
"""Characters."""
SECRET_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1," + str(LONGEST_SECRET_NAME) + "}")


class BearerAuth(msgspec.Struct, frozen=True, tag_field="kind", tag="bearer"):
    """`Authorization: Bearer`, with the secret of this name."""

    token: str

    def __post_init__(self) -> None:
        check_secret_name(self.token)


class BasicAuth(msgspec.Struct, frozen=True, tag_field="kind", tag="basic"):
    """`Authorization: Basic`, with a user name and the name of the secret that holds the password."""

    username: str
    password: str

    def __post_init__(self) -> None:
        check_secret_name(self.password)
        if ":" in self.username or not self.username.isprintable():
            raise Invalid("a username for basic auth is printable and has no colon")


class MtlsAuth(msgspec.Struct, frozen=True, tag_field="kind", tag="mtls"):
    """A client certificate: the named secret holds its chain and its key as PEM."""

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
    """Refuse a text that cannot be the name of a secret. A value that was entered by mistake is usually refused too."""
    if not SECRET_NAME.fullmatch(name):
        known = f"1 to {LONGEST_SECRET_NAME} letters, digits, dots, dashes or underscores"
        raise Invalid(f"a secret is given by its name: {known}")


def secrets_in(auth: Auth | None, *others: str | None) -> list[str]:
    """Return the names of all secrets: those of `auth`, and the others that are not None."""
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
