"""Egress rules: calls may go to the public Internet over TLS, and to networks that a deployment or a tenant allows.

The address decides, not the name. An IPv4 address inside an IPv6 address is extracted first, and every address of a
name must pass.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final
from urllib.parse import urlsplit

import msgspec

from horae.domain.errors import Invalid

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

CLOSED: Final[dict[str, tuple[str, ...]]] = {
    "this host": ("0.0.0.0/8", "127.0.0.0/8", "::/128", "::1/128"),
    "a private network": ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"),
    "a carrier's own network": ("100.64.0.0/10",),
    "link-local, where clouds keep credentials": ("169.254.0.0/16", "fe80::/10"),
    "a cloud's own services": ("168.63.129.16/32",),
    "multicast": ("224.0.0.0/4", "ff00::/8"),
    "reserved": (
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "240.0.0.0/4",
    ),
    "a tunnel": ("2001::/23", "2002::/16", "64:ff9b:1::/48"),  # Teredo, 6to4: each contains another address
    "documentation": ("2001:db8::/32", "3fff::/20"),
}
"""Networks that are closed by default, by the reason in messages."""
PUBLIC_V6: Final = IPv6Network("2000::/3")
CARRIES_V4: Final = (IPv6Network("::/96"), IPv6Network("::ffff:0:0/96"), IPv6Network("64:ff9b::/96"))
"""v4-compatible, v4-mapped and NAT64: packets go to the IPv4 address in the last 32 bits."""
PLAIN_SIX: Final = frozenset({IPv6Address("::"), IPv6Address("::1")})
"""Addresses in `::/96` that contain no IPv4 address."""
PORTS: Final = re.compile(r"(\d{1,5})(?:-(\d{1,5}))?")
HTTP_PORT: Final = 80
HTTPS_PORT: Final = 443
MOST_ENTRIES: Final = 200
"""Networks, or ports, of one set of rules."""


class Egress(msgspec.Struct, frozen=True, omit_defaults=True):
    """What calls may reach: `networks` are opened beside the public Internet; `plain` allows http without TLS.

    `ports` lists ports and ranges ("443", "8000-8999"). A network opens addresses only if it is not wider than the
    closed network around them: "10.20.0.0/16" opens that part of "10.0.0.0/8", "0.0.0.0/0" opens nothing.
    """

    networks: tuple[str, ...] = ()
    ports: tuple[str, ...] = ("443", "8443")
    plain: bool = False

    def __post_init__(self) -> None:
        if len(self.networks) > MOST_ENTRIES or len(self.ports) > MOST_ENTRIES:
            raise Invalid(f"at most {MOST_ENTRIES} networks and {MOST_ENTRIES} ports can be listed")
        for network in self.networks:
            _network(network)
        for ports in self.ports:
            _ports(ports)

    def refusal(self, *, secure: bool, port: int, addresses: Sequence[str]) -> str | None:
        """Return why a call is refused, or None. It is also called without addresses, before the name is looked up."""
        if not (secure or self.plain):
            return "the egress rules allow only https (HORAE_EGRESS, or the rules of the tenant)"
        if not any(port in _ports(ports) for ports in self.ports):
            return f"port {port} is not one of those allowed ({', '.join(self.ports)})"
        return next((why for address in addresses if (why := self._address_refusal(address))), None)

    def url_refusal(self, url: str) -> str | None:
        """Return why a call of a URL is refused, or None. No name is looked up: only literal addresses are judged."""
        parts = urlsplit(url)
        secure = parts.scheme == "https"
        port = parts.port or (HTTPS_PORT if secure else HTTP_PORT)
        return self.refusal(secure=secure, port=port, addresses=_literal_addresses(parts.hostname or ""))

    def _address_refusal(self, address: str) -> str | None:
        """Return why an address is refused, or None."""
        real = actual(address)
        found = closed_by(real)
        if found is None:
            return None
        why, closed = found
        if any(_opens(_network(name), closed, real) for name in self.networks):
            return None
        return f"{real} is {why}, and no allowed network opens it"


def actual(address: str) -> Address:
    """Return where packets to an address go: the IPv4 address inside an IPv6 address that carries one."""
    found = ip_address(address.partition("%")[0])
    if isinstance(found, IPv6Address) and found not in PLAIN_SIX and any(found in carrier for carrier in CARRIES_V4):
        return IPv4Address(int(found) & 0xFFFFFFFF)
    return found


@lru_cache(maxsize=10_000)
def closed_by(address: Address) -> tuple[str, Network] | None:
    """Return the closed network that an address lies in, with its reason; None for the public Internet."""
    for why, networks in CLOSED.items():
        for text in networks:
            network = _network(text)
            if address.version == network.version and address in network:
                return why, network
    if isinstance(address, IPv6Address) and address not in PUBLIC_V6:
        return "not of the public Internet", IPv6Network("::/0")
    return None


def _literal_addresses(host: str) -> list[str]:
    """Return the address that a host is without a lookup: a literal address, or that of `localhost`."""
    if host == "localhost" or host.endswith(".localhost"):
        return ["127.0.0.1"]
    try:
        ip_address(host.partition("%")[0])
    except ValueError:
        return []
    return [host]


def _opens(network: Network, closed: Network, address: Address) -> bool:
    return network.version == closed.version and address in network and network.prefixlen >= closed.prefixlen


@lru_cache(maxsize=1000)
def _network(text: str) -> Network:
    try:
        return ip_network(text)
    except ValueError as error:
        raise Invalid(f"{text!r} is not a network such as 10.20.0.0/16: {error}") from error


@lru_cache(maxsize=1000)
def _ports(text: str) -> range:
    found = PORTS.fullmatch(text)
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not 1 <= first <= last <= 65535:
        raise Invalid(f"{text!r} is not a port or a range of ports such as 8000-8999")
    return range(first, last + 1)
