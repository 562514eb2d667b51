"""Named secrets of a tenant: everything but their values, which only their targets receive."""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from ipaddress import IPv6Address
from typing import Final, NamedTuple

from horae.domain.errors import Invalid
from horae.domain.targets.auth import check_secret_name

LONGEST_VALUE: Final = 16_384
"""Characters; enough for a chain of certificates with its key."""
MAX_HOSTS: Final = 20
HOST: Final = re.compile(r"(\*\.)?[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63}){0,20}")
WILDCARD: Final = "*."


class Secret(NamedTuple):
    """One secret without its value. Every change raises its version. It is sent to `hosts` only; empty: to any."""

    name: str
    version: int
    changed_at: datetime
    changed_by: str
    hosts: tuple[str, ...] = ()


def check_hosts(hosts: Iterable[str]) -> tuple[str, ...]:
    """Return the hosts of a secret without duplicates, sorted; refuses texts that are no host."""
    found = tuple(sorted({_host(host.lower()) for host in hosts}))
    if len(found) > MAX_HOSTS:
        raise Invalid(f"a secret is bound to at most {MAX_HOSTS} hosts")
    return found


def _host(host: str) -> str:
    try:
        return str(IPv6Address(host))
    except ValueError:
        if HOST.fullmatch(host):
            return host
    raise Invalid(f"a host is a name such as api.example.com, *.example.com or an address, not {host!r}")


def is_bound_to(hosts: Sequence[str], host: str) -> bool:
    """Whether a secret with these hosts may be sent to a host. `*.example.com` matches every name below example.com."""
    name = host.lower().rstrip(".")
    return not hosts or any(
        name.endswith(one[1:]) and len(name) >= len(one) if one.startswith(WILDCARD) else name == one for one in hosts
    )


def check_secret(name: str, value: str) -> None:
    """Refuse an invalid name or value. No message contains the value."""
    check_secret_name(name)
    if not value or len(value) > LONGEST_VALUE or "\0" in value:
        raise Invalid(f"a secret's value is 1 to {LONGEST_VALUE} characters, none of them NUL")
