"""How a connection to PostgreSQL is protected on its way, and whether that is enough."""

from collections.abc import Sequence
from ipaddress import ip_address
from typing import Final, NamedTuple

from horae.domain.doctor import Finding, Level

VERIFIED: Final = "verify-full"
NAME: Final = "TLS to PostgreSQL"
SETTING: Final = "HORAE_DATABASE_TLS"
ADVICE: Final = f"add sslmode={VERIFIED} to the DSN; where the network itself is trusted, set {SETTING}=optional"
ALLOWED: Final = f"{SETTING}=optional allows it: whoever is on the way can read and change rows"
NEEDLESS: Final = f"take {SETTING}=optional away: no DSN needs it"


class Transport(NamedTuple):
    """Where a DSN leads: names, addresses or directories of sockets; and its sslmode."""

    hosts: tuple[str, ...]
    sslmode: str

    @property
    def exposed(self) -> tuple[str, ...]:
        """The hosts that are reached over a network without a verified certificate."""
        return () if self.sslmode == VERIFIED else tuple(host for host in self.hosts if not is_local(host))


def is_local(host: str) -> bool:
    """Whether nothing leaves this machine: a socket, or loopback."""
    if host.startswith(("/", "@")) or host.rstrip(".").lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def examine_transports(transports: Sequence[Transport], *, production: bool, optional: bool) -> Finding:
    """Judge every DSN of one cell. `optional`: the deployment says that TLS may be missing."""
    exposed = sorted({f"{one.sslmode} to {host}" for one in transports for host in one.exposed})
    if not exposed:
        remote = any(not is_local(host) for one in transports for host in one.hosts)
        found = VERIFIED if remote else "not needed: socket or loopback"
        return Finding(Level.HINT, NAME, f"{found}; {SETTING}=optional", NEEDLESS) if optional else _fine(found)
    found = ", ".join(exposed)
    if optional:
        return Finding(Level.HINT, NAME, f"{found}; {SETTING}=optional", ALLOWED)
    return Finding(Level.FAULT if production else Level.HINT, NAME, found, ADVICE)


def _fine(found: str) -> Finding:
    return Finding(Level.OK, NAME, found)
