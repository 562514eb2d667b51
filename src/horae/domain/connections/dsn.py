"""Parses the DSN of a foreign PostgreSQL, so that no part of it is left to the defaults of a driver."""

from typing import Final, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from horae.domain.errors import Invalid

SCHEMES: Final = frozenset({"postgresql", "postgres"})
PORT: Final = 5432
PLAIN_SSL_MODE: Final = "disable"
SECURE_SSL_MODES: Final = frozenset({"require", "verify-ca", "verify-full"})


class Dsn(NamedTuple):
    """Host, port, user, database, and whether to use TLS; with TLS name and chain are always verified."""

    host: str
    port: int
    user: str
    password: str
    database: str
    secure: bool

    def __repr__(self) -> str:
        return "Dsn(…)"  # it holds a password


def parse(text: str) -> Dsn:
    """Parse a DSN. No message repeats a part that may be secret."""
    try:
        parts = urlsplit(text.strip())
        port = parts.port or PORT
    except ValueError as error:
        raise Invalid("the source's DSN is not a URL such as postgresql://reader:…@db.example.com/shop") from error
    if parts.scheme not in SCHEMES or not parts.hostname or not parts.username:
        raise Invalid("the source's DSN is not a URL such as postgresql://reader:…@db.example.com/shop")
    return Dsn(
        parts.hostname,
        port,
        unquote(parts.username),
        unquote(parts.password or ""),
        unquote(parts.path.lstrip("/")) or unquote(parts.username),
        _secure(parts.query),
    )


def _secure(query: str) -> bool:
    given = dict(parse_qsl(query))
    mode = given.pop("sslmode", "verify-full")
    if given:
        raise Invalid("of all parameters a source's DSN may have sslmode only")
    if mode != PLAIN_SSL_MODE and mode not in SECURE_SSL_MODES:
        raise Invalid("sslmode is verify-full, or disable where the deployment allows calls without TLS")
    return mode != PLAIN_SSL_MODE
