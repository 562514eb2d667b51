"""Where a DSN leads, as the driver itself understands it: with its environment variables, services and defaults."""

import asyncpg
from asyncpg import connect_utils

from horae.domain.errors import Invalid
from horae.domain.transports import Transport

UNNAMED = (
    "host", "port", "user", "password", "passfile", "database", "ssl", "service", "servicefile", "direct_tls",
    "server_settings", "krbsrvname", "gsslib",
)  # fmt: skip
"""What the driver is not told beside the DSN."""


def transport_of(dsn: str) -> Transport:
    """Read a DSN without connecting; one that the driver would not take is refused."""
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
