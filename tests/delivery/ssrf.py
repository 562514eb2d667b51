"""Hundreds of ways to lead our client inside, where every address leads to a canary: `python -m tests.delivery.ssrf`

Runs in a network namespace of its own, whose only resolver is ours, and in which every address of either family is
local: whatever the client would connect to, it would reach the canary. Prints what became of each kind of try.
"""

import asyncio
import json
import sys
from collections import Counter, defaultdict

from horae.delivery.client import Client, ask
from horae.delivery.http import Failure, HttpAnswer, build_request, parse_url
from horae.domain.targets.egress import Egress
from tests.delivery.resolver import Resolver
from tests.inside import INSIDE, SIXES, carried, spelt

OPEN = Egress(ports=("1-65535",), plain=True)
ALLOWED = Egress(networks=("10.0.0.0/8",), ports=("1-65535",), plain=True)
PUBLIC = ("93.184.216.34", "2606:4700:4700::1111")
FORMS = [address for inner in INSIDE for address in carried(inner)]
SIXTH = [address for address in (*SIXES, *FORMS) if "%" not in address]
INNER = "10.1.2.3"
REDIRECT = b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:%d/\r\nContent-Length: 0\r\n\r\n"
NAMED = [*INSIDE, *SIXTH]


def said(name: str, _kind: int) -> list[str]:
    """`7.of.example` leads to the seventh address of the list, `7.both.example` to a public one, too."""
    number, _, kind = name.partition(".")
    match kind:
        case "of.example":
            return [NAMED[int(number)]]
        case "both.example":
            return [*PUBLIC, NAMED[int(number)]]
        case "public.example":
            return list(PUBLIC)
        case _:
            return []


def tries() -> dict[str, list[str]]:
    """Hosts by kind."""
    return {
        "literal": list(INSIDE),
        "spelt": [form for inner in INSIDE for form in spelt(inner)],
        "IPv6 literal": [f"[{address}]" for address in (*SIXES, *FORMS)],
        "name": [f"{n}.of.example" for n in range(len(NAMED))],
        "name with a public address too": [f"{n}.both.example" for n in range(len(NAMED))],
    }


class Canary:
    """Counts who comes, and would lead anybody who follows further inside."""

    def __init__(self) -> None:
        self.reached: list[str] = []
        self.port = 0

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reached.append(writer.get_extra_info("sockname")[0])
        await reader.readuntil(b"\r\n\r\n")
        writer.write(REDIRECT % self.port)
        writer.close()


async def tried(client: Client, host: str, port: int) -> str:
    """What became of one call."""
    try:
        found = await ask(client, build_request("GET", parse_url(f"http://{host}:{port}/"), {}, b"", 1.0, 1.0))
    except ValueError:
        return "REFUSED"  # no host can be read out of it
    match found:
        case HttpAnswer(status=status):
            return str(status)
        case Failure(code):
            return str(code)


async def main() -> None:
    loop, canary = asyncio.get_running_loop(), Canary()
    transport, resolver = await loop.create_datagram_endpoint(lambda: Resolver(said), local_addr=("127.0.0.1", 53))
    fourth = await asyncio.start_server(canary, "0.0.0.0", 0)
    canary.port = port = fourth.sockets[0].getsockname()[1]
    sixth = await asyncio.start_server(canary, "::", port)
    done: dict[str, Counter[str]] = defaultdict(Counter)
    guarded, allowed = Client(OPEN), Client(ALLOWED)
    for kind, hosts in tries().items():
        for host in hosts:
            done[kind][await tried(guarded, host, port)] += 1
    inside = list(canary.reached)
    controls = [await tried(guarded, host, port) for host in (PUBLIC[0], f"[{PUBLIC[1]}]", "1.public.example")]
    opened = [await tried(allowed, INNER, port), await tried(allowed, f"{NAMED.index('10.0.0.1')}.of.example", port)]
    for client in (guarded, allowed):
        await client.close()
    for server in (fourth, sixth):
        server.close()
    transport.close()
    seen = {"inside": inside, "controls": controls, "allowed": opened, "asked": resolver.asked, "done": done}
    sys.stdout.write(json.dumps(seen))


if __name__ == "__main__":
    asyncio.run(main())
