"""A name server that changes its mind, a canary, and our client between them: `python -m tests.delivery.rebinding N`.

Runs in a network namespace of its own whose only resolver is the one here. Prints how often the client came to a
connection, how often it was refused, and how often the canary was reached.
"""

import asyncio
import json
import struct
import sys
from collections import Counter
from ipaddress import IPv4Address

from horae.delivery.client import Client, ask
from horae.delivery.http import Answer, Failure, compose, place_of
from horae.domain.egress import Egress

PUBLIC, INSIDE = "93.184.216.34", "127.0.0.1"
OPEN = Egress(ports=("1-65535",), plain=True)


class Resolver(asyncio.DatagramProtocol):
    """Answers A with addresses that flip at every question, TTL 0; AAAA with none."""

    def __init__(self) -> None:
        self.asked = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def datagram_received(self, data: bytes, address: tuple[str, int]) -> None:
        end = data.index(b"\0", 12) + 5
        question, kind = data[12:end], struct.unpack(">H", data[end - 4 : end - 2])[0]
        answers = b"" if kind != 1 else b"".join(self._record(one) for one in self._addresses())
        head = struct.pack(">HHHHHH", *struct.unpack(">H", data[:2]), 0x8180, 1, len(answers) // 16, 0, 0)
        self.transport.sendto(head + question + answers, address)

    def _addresses(self) -> list[str]:
        self.asked += 1
        return [[PUBLIC], [INSIDE], [PUBLIC, INSIDE], [INSIDE, PUBLIC]][self.asked % 4]

    @staticmethod
    def _record(address: str) -> bytes:
        return struct.pack(">HHHIH4s", 0xC00C, 1, 1, 0, 4, IPv4Address(address).packed)


async def main(tries: int) -> None:
    loop, reached = asyncio.get_running_loop(), Counter[str]()

    def canary(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reached["canary"] += 1
        writer.close()

    transport, resolver = await loop.create_datagram_endpoint(Resolver, local_addr=("127.0.0.1", 53))
    server = await asyncio.start_server(canary, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    client = Client(OPEN)
    for n in range(tries):  # a name each: what was said of it is remembered for some seconds
        request = compose("GET", place_of(f"http://n{n}.rebind.example:{port}/"), {}, b"", 1.0, 1.0)
        match await ask(client, request):
            case Answer():
                reached["answer"] += 1
            case Failure(code):
                reached[str(code)] += 1
    await client.close()
    server.close()
    transport.close()
    sys.stdout.write(json.dumps({"asked": resolver.asked, **reached}))


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
