"""URLs and addresses: a URL is taken apart as it was checked, and no address that is not public passes the guard."""

from ipaddress import IPv6Address, ip_address
from urllib.parse import urlsplit

from horae.delivery.http import head, parse_url
from horae.domain.errors import Invalid
from horae.domain.targets.egress import Egress, actual
from horae.domain.targets.urls import check_header, check_url

RULES = Egress()
INSIDE = Egress(networks=("10.20.0.0/16", "fd00:1::/32"), ports=("1-65535",), plain=True)
SEEDS = (
    b"uhttps://example.com/hooks?a=b#c",
    b"uhttp://[::ffff:169.254.169.254]:8080/",
    b"uhttps://user:word@127.0.0.1/",
    b"uhttps://0x7f000001/",
    b"uhttps://2130706433/",
    b"u//127.1/",
    b"4\x7f\0\0\1",
    b"4\xa9\xfe\xa9\xfe",
    b"6" + IPv6Address("64:ff9b::a9fe:a9fe").packed,
    b"6" + IPv6Address("2002:7f00:1::").packed,
    b"6" + IPv6Address("::ffff:10.0.0.1").packed,
    b"6" + IPv6Address("2606:4700::1111").packed,
    b"n10.0.0.0/8",
    b"p8000-8999",
    b"hX-Header\0value",
)


def feed(data: bytes) -> None:
    """The first letter says what the rest is."""
    text = data[1:].decode(errors="replace")
    try:
        match data[:1]:
            case b"4":
                _judge(data[1:5])
            case b"6":
                _judge(data[1:17])
            case b"n":
                Egress(networks=(text,))
            case b"p":
                Egress(ports=(text,))
            case b"h":
                name, _, value = text.partition("\0")
                check_header(name, value)
            case _:
                _take_apart(text)
    except Invalid:
        return


def _judge(packed: bytes) -> None:
    """What Python itself does not call global is closed, whatever hides inside of what."""
    if len(packed) not in {4, 16}:
        return
    address = ip_address(packed)
    why = RULES.refusal(secure=True, port=443, addresses=[str(address)])
    INSIDE.refusal(secure=False, port=80, addresses=[str(address)])
    real = actual(str(address))
    hidden = isinstance(address, IPv6Address) and (address.sixtofour or address.teredo)
    if hidden or not real.is_global or real.is_multicast or real.is_loopback or real.is_link_local or real.is_private:
        assert why is not None, address


def _take_apart(url: str) -> None:
    check_url(url)
    place = parse_url(url)
    assert place.origin.host == urlsplit(url).hostname
    assert 0 < place.origin.port < 65536
    lines = head("POST", place, {}).split(b"\r\n")
    assert len(lines) == 4, "a URL is one line"
    assert len(lines[0].split(b" ")) == 3, "and one word of it"
    try:
        addresses = [str(ip_address(place.origin.host))]
    except ValueError:
        addresses = []
    RULES.refusal(secure=place.origin.secure, port=place.origin.port, addresses=addresses)
