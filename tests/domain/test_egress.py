"""Where calls may go: every way to write an address that is not of the public Internet is refused."""

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest

from horae.domain.egress import CLOSED, Egress, actual
from horae.domain.errors import Invalid

OPEN = Egress(ports=("1-65535",), plain=True)
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


VECTORS = [*INSIDE, *SIXES, *(form for inner in INSIDE for form in carried(inner))]
PUBLIC = ["8.8.8.8", "93.184.216.34", "2606:4700:4700::1111", "2a00:1450:4001::1", "64:ff9b::8.8.8.8", "::ffff:8.8.8.8"]


def test_there_are_enough_vectors():
    assert len(set(VECTORS)) >= 200


@pytest.mark.parametrize("address", VECTORS)
def test_what_is_not_of_the_public_internet_is_refused(address: str):
    assert OPEN.refusal(secure=True, port=443, addresses=[address])


@pytest.mark.parametrize("address", PUBLIC)
def test_the_public_internet_is_open(address: str):
    assert OPEN.refusal(secure=True, port=443, addresses=[address]) is None


def test_one_bad_address_condemns_a_name():
    assert OPEN.refusal(secure=True, port=443, addresses=["8.8.8.8", "127.0.0.1"])


@pytest.mark.parametrize("network", [text for networks in CLOSED.values() for text in networks])
def test_a_named_network_is_opened_and_nothing_beside_it(network: str):
    first = network.partition("/")[0]
    opened = Egress(networks=(network,), ports=("443",))
    inner = actual(first)
    if inner == ip_address(first):
        assert opened.refusal(secure=True, port=443, addresses=[first]) is None
    others = [address for address in INSIDE if not opened.refusal(secure=True, port=443, addresses=[address])]
    assert all(OPEN.refusal(secure=True, port=443, addresses=[address]) for address in others)
    assert len(others) < len(INSIDE) / 2


def test_an_opened_network_is_open_in_every_form_that_leads_there():
    opened = Egress(networks=("10.20.0.0/16",), ports=("443",))
    for form in ("10.20.0.1", "::ffff:10.20.0.1", "64:ff9b::10.20.0.1"):
        assert opened.refusal(secure=True, port=443, addresses=[form]) is None
    assert opened.refusal(secure=True, port=443, addresses=["10.21.0.1"])


@pytest.mark.parametrize("everything", ["0.0.0.0/0", "0.0.0.0/1", "128.0.0.0/1", "::/1"])
def test_a_network_wider_than_the_closed_one_opens_nothing(everything: str):
    wide = Egress(networks=(everything,), ports=("443",))
    assert all(wide.refusal(secure=True, port=443, addresses=[address]) for address in (*INSIDE, "fe80::1", "::1"))


def test_http_and_other_ports_are_refused_unless_named():
    usual = Egress()
    assert usual.refusal(secure=True, port=443, addresses=["8.8.8.8"]) is None
    assert "https" in str(usual.refusal(secure=False, port=443, addresses=[]))
    assert "port 22" in str(usual.refusal(secure=True, port=22, addresses=[]))
    wider = Egress(ports=("443", "8000-8010"), plain=True)
    assert wider.refusal(secure=False, port=8005, addresses=[]) is None
    assert wider.refusal(secure=False, port=8011, addresses=[])


@pytest.mark.parametrize(
    "wrong", [{"networks": ("10.0.0.1/8",)}, {"networks": ("ten",)}, {"ports": ("0",)}, {"ports": ("9-1",)}]
)
def test_rules_that_cannot_be_read_are_refused(wrong: dict[str, tuple[str, ...]]):
    with pytest.raises(Invalid):
        Egress(**wrong)
