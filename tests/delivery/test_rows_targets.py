"""S-06: a hostile target gets a fixed number of bytes, of seconds and of places, and never a secret of another hop."""

import asyncio
import gc
import gzip
from contextlib import suppress

import pytest

from horae.delivery import client as clients
from horae.delivery.client import Client, ask
from horae.delivery.connection import Connection
from horae.delivery.http import Failure, HttpAnswer, build_request, parse_url
from horae.delivery.push import Sender
from horae.delivery.reading import MAX_ANSWER_BYTES, MAX_HEAD_BYTES, MAX_KEPT_BODY_BYTES, MOST_HEADERS
from horae.domain.errors import HoraeError, Invalid
from horae.domain.instances.outcomes import ErrorCode
from horae.domain.sources.sources import HttpSource
from horae.domain.targets.targets import MAX_LONG_TIMEOUT_S, HttpTarget
from tests.delivery.server import Behaviour, Server, Visit, answer, serving, silent
from tests.delivery.test_corpus import READERS, SECRETS, Reader, answering
from tests.delivery.test_hostile import HEAD, PIECE, endless, forget_peak, peak, resident, trickle
from tests.egress import ANYWHERE

MB, GB = 10**6, 10**9
AT_ONCE = 10
MAX_GROWTH_BYTES = 5 * MB
MAX_READ_BYTES = 256 * 1024
"""What the loop hands over at once: so much may come before a connection can be cut."""
MEMBER = gzip.compress(bytes(10 * MB))
REDIRECTS = (301, 302, 303, 307, 308)


def of_size(size: int) -> dict[str, Behaviour]:
    """A body of so many bytes, in each way that a body can be sent."""
    pieces = size // len(PIECE) + 1
    packed = b"Connection: close\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % (
        len(MEMBER) * (size // (10 * MB))
    )
    return {
        "length": endless(HEAD + b"Content-Length: %d\r\n\r\n" % size, PIECE, pieces),
        "chunks": endless(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"10000\r\n" + PIECE + b"\r\n", pieces),
        "until the end": endless(HEAD + b"Connection: close\r\n\r\n", PIECE, pieces),
        "a gzip that unpacks to it": endless(HEAD + packed, MEMBER, size // (10 * MB)),
    }


@pytest.fixture
def taken(monkeypatch) -> list[int]:
    """How many bytes came in by each read of any connection."""
    sizes: list[int] = []
    receive = Connection.data_received

    def count(connection: Connection, data: bytes) -> None:
        sizes.append(len(data))
        receive(connection, data)

    monkeypatch.setattr(Connection, "data_received", count)
    return sizes


async def ask_at_once(client: Client, server: Server, many: int, read_timeout: float) -> list[HttpAnswer | Failure]:
    """The results of so many requests at the same time."""
    return await asyncio.gather(*(ask(client, server.request(read_timeout=read_timeout)) for _ in range(many)))


@pytest.mark.parametrize("requests", [10, pytest.param(1000, marks=pytest.mark.long)])
@pytest.mark.parametrize("size", [10 * MB, GB, 10 * GB], ids=["10 MB", "1 GB", "10 GB"])
@pytest.mark.parametrize("way", ["length", "chunks", "until the end", "a gzip that unpacks to it"])
async def test_a_body_of_any_size_costs_the_same_bytes_and_frees_its_slot(client, taken, requests, size, way):
    offered = len(MEMBER) * (size // (10 * MB)) if "gzip" in way else size
    async with serving(of_size(size)[way]) as server:
        await ask(client, server.request(read_timeout=20))
        taken.clear()
        gc.collect()
        forget_peak()
        before = resident()
        for _ in range(requests // AT_ONCE):
            for one in await ask_at_once(client, server, AT_ONCE, 20):
                assert isinstance(one, HttpAnswer)
                assert len(one.body) == min(MAX_KEPT_BODY_BYTES, offered)
        growth = peak() - before
        assert sum(taken) <= requests * (MAX_ANSWER_BYTES + MAX_READ_BYTES)
        assert growth <= AT_ONCE * MAX_GROWTH_BYTES
        await client.close()
        assert client.connections == 0


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize("said", [b"x", b"HTTP/1.1 100 Continue\r\n\r\n"], ids=["a body", "interim answers"])
async def test_five_hundred_that_say_a_byte_a_second_are_let_go_after_thirty_seconds(client, said):
    before = b"" if said != b"x" else HEAD + b"Content-Length: 100000\r\n\r\n"
    seconds = 1.0 if said == b"x" else 10.0  # ten interim answers are passed over, and the eleventh is no answer
    async with serving(trickle(before, said, seconds)) as server:
        forget_peak()
        held = resident()
        found = await ask_at_once(client, server, 500, 30)
        assert [one.code for one in found] == [ErrorCode.TIMEOUT] * 500
        assert peak() - held <= 500 * MAX_GROWTH_BYTES
        await server.until(lambda server: server.open == 0)


STALLED = {
    "nothing": silent,
    "a byte now and then": trickle(b"", b"\x16"),
    "half a handshake": trickle(b"\x16\x03\x03\x40\x00\x02\x00\x3f\xfc", b"\0"),
}


@pytest.mark.parametrize("kind", STALLED)
async def test_a_handshake_that_never_ends_is_no_connection_after_the_connect_timeout(client, kind):
    async def behave(visit: Visit) -> None:
        visit.heard = visit.reader.readline if kind == "nothing" else lambda: visit.reader.read(1)
        await STALLED[kind](visit)

    async with serving(behave) as server:
        place = parse_url(server.url.replace("http:", "https:"))
        request = build_request("POST", place, {}, b"", 0.3, 30.0)
        found = await asyncio.gather(*(ask(client, request) for _ in range(10)))
        assert {one.code for one in found} <= {ErrorCode.CONNECT, ErrorCode.TLS}
        assert (client.connections, client._opening) == (0, set())
        await server.until(lambda server: server.open == 0)


async def test_name_connection_and_answer_have_thirty_seconds_in_all():
    """Without the bound the second of these calls could keep its place for a minute."""
    loop, waited_s = asyncio.get_running_loop(), 1.0

    async def resolve(_host: str, _port: int) -> list[str]:
        await asyncio.sleep(waited_s)
        return ["127.0.0.1"]

    client = Client(ANYWHERE, resolve=resolve)
    async with serving(silent) as server:
        place = parse_url(server.url.replace("127.0.0.1", "slow.example"))
        began_at = loop.time()
        asked = loop.create_task(ask(client, build_request("POST", place, {}, b"", 30.0, 30.0)))
        await server.until(lambda server: server.visits == 1)
        while not (deadlines := [one.deadline for one in client._connections if one._done is not None]):
            await asyncio.sleep(0)
        assert began_at + clients.MAX_CALL_S - 1 < deadlines[0] <= began_at + 30 + waited_s / 2
        await client.close()
        assert isinstance(await asked, Failure)


async def test_a_connection_that_stands_too_late_is_not_written_to(monkeypatch):
    monkeypatch.setattr(clients, "MAX_CALL_S", 0.0)
    client = Client(ANYWHERE)
    heard: list[bytes] = []

    async def behave(visit: Visit) -> None:
        heard.append(await visit.reader.read())

    async with serving(behave) as server:
        found = await ask(client, server.request())
        assert found == Failure(ErrorCode.CONNECT, "no connection within the 0 s of a call")
        await server.until(lambda server: server.open == 0)
        await client.close()
    assert heard in ([], [b""])


def test_sixty_four_kib_are_kept_of_an_answer_and_four_times_as_much_is_heard():
    assert (MAX_KEPT_BODY_BYTES, MAX_ANSWER_BYTES) == (64 * 1024, 256 * 1024)
    assert (MAX_HEAD_BYTES, MOST_HEADERS) == (32 * 1024, 100)


def test_a_target_and_a_source_have_three_seconds_to_connect_and_nobody_more_than_thirty():
    url = "https://example.com/"
    for kind, longest in ((HttpTarget, MAX_LONG_TIMEOUT_S), (HttpSource, 30)):
        assert kind(url).connect_timeout == 3.0
        assert kind(url, connect_timeout=30, read_timeout=30)
        for facts in ({"connect_timeout": 30.1}, {"read_timeout": longest + 0.1}):
            with pytest.raises(Invalid):
                kind(url, **facts)


@pytest.mark.parametrize("hear", READERS, ids=lambda hear: hear.__name__)
async def test_whoever_is_sent_elsewhere_takes_no_secret_there_and_keeps_no_cookie(hear, monkeypatch):
    """Every reader, at a server that redirects to a second one and sets cookies: that one is never visited."""
    sent = []
    send = Client.send
    monkeypatch.setattr(
        Client, "send", lambda client, request, done: sent.append(request) or send(client, request, done)
    )

    async def visited(_visit: Visit) -> None:
        pytest.fail("somebody followed a redirect")

    def redirect(status: int) -> bytes:
        return answer(status, b"", location=f"{second.url}/stolen", set_cookie="session=1; Path=/; Max-Age=9999")

    async with serving(visited) as second, serving(answering(redirect)) as first:
        client = Client(ANYWHERE)
        reader = Reader(client, Sender(client, SECRETS), first.url)
        for status in (*REDIRECTS, *REDIRECTS):
            with suppress(HoraeError):
                await hear(reader, status)
        await client.close()
        assert second.visits == 0
    assert len(sent) >= 2 * len(REDIRECTS)
    for request in sent:
        head = request.data.partition(b"\r\n\r\n")[0].lower().split(b"\r\n")
        assert b"accept-encoding: identity" in head
        assert not [line for line in head if line.startswith((b"cookie:", b"expect:"))]
        assert request.connect_timeout <= 3
        assert request.read_timeout <= 30
