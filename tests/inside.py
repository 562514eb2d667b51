"""Addresses that are not of the public Internet, and the ways there are to write them."""

from ipaddress import IPv4Address, IPv6Address

INSIDE = (
    *("0.0.0.0", "0.1.2.3", "127.0.0.1", "127.1.2.3", "127.255.255.254", "10.0.0.1", "10.255.255.255"),
    *("172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.255.255", "100.64.0.1", "100.127.255.255"),
    *("169.254.0.1", "169.254.169.254", "169.254.170.2", "168.63.129.16", "192.0.0.1", "192.0.0.192", "192.0.2.1"),
    *("192.88.99.1", "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.255.255.255"),
    *("240.0.0.1", "255.255.255.255"),
)
SIXES = (
    *("::", "::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "100::1", "5f00::1"),
    *("2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:10::1", "2001:20::1", "2001:db8::1", "3fff::1"),
    *("2002:7f00:1::", "2002:a9fe:a9fe::", "2002:a00:1::1", "2002:808:808::", "64:ff9b:1::7f00:1", "::2", "4000::1"),
)


def carried(inner: str) -> list[str]:
    """The same IPv4 address inside IPv6 ones: mapped, compatible, NAT64, 6to4, Teredo."""
    value = int(IPv4Address(inner))
    return [
        str(IPv6Address((0xFFFF << 32) | value)),
        str(IPv6Address(value)),
        str(IPv6Address((0x64FF9B << 96) | value)),
        str(IPv6Address((0x2002 << 112) | value << 80)),
        str(IPv6Address((0x20010000 << 96) | (value ^ 0xFFFFFFFF))),
        f"::ffff:{inner}",
        f"64:ff9b::{inner}",
    ]


def spelt(inner: str) -> list[str]:
    """The same IPv4 address as old resolvers read it: one number, hexadecimal, octal, fewer parts, a dot behind."""
    value = int(IPv4Address(inner))
    a, b, c, d = IPv4Address(inner).packed
    return [
        *(str(value), f"{value:#x}", f"0{value:o}"),
        *(f"{a:#x}.{b:#x}.{c:#x}.{d:#x}", f"0{a:o}.0{b:o}.0{c:o}.0{d:o}", f"{a}.{b}.{c << 8 | d}", f"{inner}."),
    ]
