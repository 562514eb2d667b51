"""Addresses of callers, in a form that can be compared and counted."""

from ipaddress import IPv6Address, ip_network


def plain_address(text: str) -> str:
    """Returns an address, with an IPv4 address that is mapped into IPv6 as plain IPv4."""
    address = _ipv6(text)
    return text if address is None or address.ipv4_mapped is None else str(address.ipv4_mapped)


def host_of(text: str) -> str:
    """Returns the host of an address: an IPv4 address, or the /64 network of an IPv6 address."""
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
