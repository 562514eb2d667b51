"""How a connection to PostgreSQL is protected, and whether that is enough."""

from collections.abc import Sequence
from ipaddress import ip_address
from typing import Final, NamedTuple

from horae.domain.health.doctor import Diagnosis, Severity

VERIFIED: Final = "verify-full"
NAME: Final = "TLS to PostgreSQL"
SETTING: Final = "HORAE_DATABASE_TLS"
ADVICE: Final = f"add sslmode={VERIFIED} to the DSN; where the network itself is trusted, set {SETTING}=optional"
ALLOWED: Final = f"{SETTING}=optional allows it: whoever is on the way can read and change rows"
NEEDLESS: Final = f"take {SETTING}=optional away: no DSN needs it"


class Transport(NamedTuple):
    """The hosts of a DSN (names, addresses or directories of sockets), and its sslmode."""

    hosts: tuple[str, ...]
    sslmode: str

    @property
    def exposed(self) -> tuple[str, ...]:
        """The hosts that are reached over a network without a verified certificate."""
        return () if self.sslmode == VERIFIED else tuple(host for host in self.hosts if not is_local(host))


def is_local(host: str) -> bool:
    """Whether the connection stays on this machine: a socket, or loopback."""
    if host.startswith(("/", "@")) or host.rstrip(".").lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def examine_transports(transports: Sequence[Transport], *, production: bool, optional: bool) -> Diagnosis:
    """Check every DSN of one cell. `optional`: the deployment permits connections without TLS."""
    exposed = sorted({f"{one.sslmode} to {host}" for one in transports for host in one.exposed})
    if not exposed:
        remote = any(not is_local(host) for one in transports for host in one.hosts)
        found = VERIFIED if remote else "not needed: socket or loopback"
        return Diagnosis(Severity.HINT, NAME, f"{found}; {SETTING}=optional", NEEDLESS) if optional else _fine(found)
    found = ", ".join(exposed)
    if optional:
        return Diagnosis(Severity.HINT, NAME, f"{found}; {SETTING}=optional", ALLOWED)
    return Diagnosis(Severity.FAULT if production else Severity.HINT, NAME, found, ADVICE)


def _fine(found: str) -> Diagnosis:
    return Diagnosis(Severity.OK, NAME, found)
