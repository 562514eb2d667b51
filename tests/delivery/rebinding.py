"""A name server that changes its mind, a canary, and our client between them: `python -m tests.delivery.rebinding N`.

Runs in a network namespace of its own whose only resolver is the one here. Prints how often the client came to a
connection, how often it was refused, and how often the canary was reached.
"""

import asyncio
import json
import sys
from collections import Counter

from horae.delivery.client import Client, ask
from horae.delivery.http import Failure, HttpAnswer, build_request, parse_url
from horae.domain.targets.egress import Egress
from tests.delivery.resolver import A, Resolver

PUBLIC, INSIDE = "93.184.216.34", "127.0.0.1"
OPEN = Egress(ports=("1-65535",), plain=True)


class Fickle:
    """Another answer at every question: public, inside, and both in either order."""

    def __init__(self) -> None:
        self._turn = 0

    def __call__(self, _name: str, kind: int) -> list[str]:
        self._turn += kind == A
        return [[PUBLIC], [INSIDE], [PUBLIC, INSIDE], [INSIDE, PUBLIC]][self._turn % 4]


async def main(tries: int) -> None:
    loop, reached = asyncio.get_running_loop(), Counter[str]()

    def canary(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reached["canary"] += 1
        writer.close()

    transport, resolver = await loop.create_datagram_endpoint(lambda: Resolver(Fickle()), local_addr=("127.0.0.1", 53))
    server = await asyncio.start_server(canary, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    client = Client(OPEN)
    for n in range(tries):  # a name each: what was said of it is remembered for some seconds
        request = build_request("GET", parse_url(f"http://n{n}.rebind.example:{port}/"), {}, b"", 1.0, 1.0)
        match await ask(client, request):
            case HttpAnswer():
                reached["answer"] += 1
            case Failure(code):
                reached[str(code)] += 1
    await client.close()
    server.close()
    transport.close()
    sys.stdout.write(json.dumps({"asked": resolver.asked, **reached}))


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
