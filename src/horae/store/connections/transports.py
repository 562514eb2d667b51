"""The hosts and TLS mode of a DSN as the driver reads it, including environment variables, services and defaults."""

import asyncpg
from asyncpg import connect_utils

from horae.domain.connections.transports import Transport
from horae.domain.errors import Invalid

UNNAMED = (
    "host", "port", "user", "password", "passfile", "database", "ssl", "service", "servicefile", "direct_tls",
    "server_settings", "krbsrvname", "gsslib",
)  # fmt: skip
"""Arguments of the driver that are left empty, because the DSN is the only input."""


def transport_of(dsn: str) -> Transport:
    """Parse a DSN without connecting. Raises `Invalid` for a DSN that the driver would refuse."""
    try:
        addresses, parameters = connect_utils._parse_connect_dsn_and_args(  # type: ignore[attr-defined]  # no public way
            dsn=dsn, target_session_attrs=None, **dict.fromkeys(UNNAMED)
        )
    except asyncpg.ClientConfigurationError as error:
        raise Invalid(f"PostgreSQL cannot be reached as a DSN says it: {error}") from error
    except ValueError as error:
        raise Invalid("a DSN is not a URL such as postgresql://horae_engine@db.example.com/horae") from error
    hosts = tuple(address if isinstance(address, str) else address[0] for address in addresses)
    sslmode = parameters.sslmode
    return Transport(hosts, "disable" if sslmode is None else sslmode.name.replace("_", "-"))
