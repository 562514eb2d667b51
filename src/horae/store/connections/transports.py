"""The hosts and TLS mode of a DSN as the driver reads it, including environment variables, services and defaults."""

from typing import Any, NamedTuple

import asyncpg
from asyncpg import connect_utils

from horae.domain.connections.transports import Transport
from horae.domain.errors import Invalid

UNNAMED = (
    "host", "port", "user", "password", "passfile", "database", "ssl", "service", "servicefile", "direct_tls",
    "server_settings", "krbsrvname", "gsslib",
)  # fmt: skip
"""Arguments of the driver that are left empty, because the DSN is the only input."""


class Address(NamedTuple):
    """Where one server of a DSN listens. For a Unix socket, `host` is its folder."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


def transport_of(dsn: str) -> Transport:
    """Parse a DSN without connecting. Raises `Invalid` for a DSN that the driver would refuse."""
    addresses, parameters = _parse(dsn)
    hosts = tuple(address if isinstance(address, str) else address[0] for address in addresses)
    sslmode = parameters.sslmode
    return Transport(hosts, "disable" if sslmode is None else sslmode.name.replace("_", "-"))


def addresses_of(dsn: str) -> list[Address]:
    """The servers that a DSN names, in its order. Raises `Invalid` like `transport_of`."""
    return [_address(found) for found in _parse(dsn)[0]]


def _address(found: str | tuple[str, int]) -> Address:
    if not isinstance(found, str):
        return Address(*found)
    folder, _, port = found.rpartition("/.s.PGSQL.")
    return Address(folder, int(port))


def _parse(dsn: str) -> tuple[list[Any], Any]:
    """The addresses and the parameters of a DSN, as the driver reads it."""
    try:
        addresses, parameters = connect_utils._parse_connect_dsn_and_args(  # type: ignore[attr-defined]  # no public way
            dsn=dsn, target_session_attrs=None, **dict.fromkeys(UNNAMED)
        )
    except asyncpg.ClientConfigurationError as error:
        raise Invalid(f"PostgreSQL cannot be reached as a DSN says it: {error}") from error
    except ValueError as error:
        raise Invalid("a DSN is not a URL such as postgresql://horae_engine@db.example.com/horae") from error
    return addresses, parameters
