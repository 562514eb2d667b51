"""Addresses of callers, in the form that they are compared and counted in."""

from ipaddress import IPv6Address, ip_network


def plain_address(text: str) -> str:
    """An IPv4 address as such, also where a listener for both kinds shows it inside of an IPv6 address."""
    address = _ipv6(text)
    return text if address is None or address.ipv4_mapped is None else str(address.ipv4_mapped)


def host_of(text: str) -> str:
    """What counts as one host: an IPv4 address, or the /64 of an IPv6 address, all of which one host may have."""
    text = plain_address(text)
    address = _ipv6(text)
    return text if address is None else str(ip_network((int(address), 64), strict=False))


def _ipv6(text: str) -> IPv6Address | None:
    if ":" not in text:
        return None
    try:
        return IPv6Address(text)
    except ValueError:
        return None
