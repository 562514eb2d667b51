"""Where calls may go: every way to write an address that is not of the public Internet is refused."""

from ipaddress import ip_address

import pytest

from horae.domain.errors import Invalid
from horae.domain.targets.egress import CLOSED, Egress, actual
from tests.inside import INSIDE, SIXES, carried

OPEN = Egress(ports=("1-65535",), plain=True)
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


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://example.com/a", "only https"),
        ("https://example.com:9000/a", "port 9000"),
        ("https://10.1.2.3/a", "a private network"),
        ("https://[::1]/a", "this host"),
        ("https://localhost/a", "this host"),
        ("https://api.localhost:8443/a", "this host"),
        ("https://example.com/a", None),
        ("https://example.com:8443/a", None),
        ("https://8.8.8.8/a", None),
    ],
)
def test_a_url_is_judged_as_far_as_it_tells(url: str, why: str | None):
    found = Egress().url_refusal(url)
    assert found is None if why is None else why in found
