"""Where the tests' own clients may go: their receivers, on whatever port was free."""

from horae.domain.targets.egress import Egress

ANYWHERE = Egress(networks=("127.0.0.0/8", "::1/128", "10.0.0.0/8"), ports=("1-65535",), plain=True)
