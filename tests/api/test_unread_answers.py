"""Whoever does not read what was asked for is hung up on; a connection counts for the host it comes from."""

import asyncio
import socket
from contextlib import asynccontextmanager

import pytest
import uvicorn

from horae.api import protocol
from horae.api.addresses import host_of
from horae.api.protocol import ConnectionLimits, protocol_of
from horae.boot.api_server import ApiServer, limits_of, listen, share_of_one
from horae.runtime.settings import Settings
from tests.steps import until

BODY = b"x" * 16 * 1024 * 1024
SECRET = "kV3mQ9xT7pLw2ZrB8nYc5HdJ4sGfAeUo"
ASK = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


async def large_answer(scope, receive, send):
    headers = [(b"content-length", b"%d" % len(BODY)), (b"x-client", scope["client"][0].encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": BODY})


@asynccontextmanager
async def served(limits, host="127.0.0.1", **facts):
    """A server over our protocol; gives the port and the connections it has."""
    listening = listen(host, 0)
    http = protocol_of(limits)
    config = uvicorn.Config(large_answer, http=http, lifespan="off", log_config=None, timeout_keep_alive=1, **facts)
    server = ApiServer(config)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield listening.getsockname()[1], server.server_state.connections
    finally:
        server.should_exit = server.force_exit = True
        await serving


async def asking(port, request=ASK, window=4096):
    """A socket that has asked, as a rule with a small window."""
    made = socket.socket()
    if window is not None:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
    made.setblocking(False)
    await asyncio.get_running_loop().sock_connect(made, ("127.0.0.1", port))
    await asyncio.get_running_loop().sock_sendall(made, request)
    return made


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(protocol, "WRITE_CHECK_S", 0.05)


@pytest.mark.parametrize("ending", [b"", b"Connection: close\r\n"])
async def test_an_answer_that_nobody_reads_ends_with_its_connection(impatient, ending):
    async with served(ConnectionLimits(10, 10)) as (port, connections):
        sockets = [await asking(port, ASK.replace(b"\r\n\r\n", b"\r\n" + ending + b"\r\n")) for _ in range(3)]
        await until(lambda: len(connections) == 3)
        try:
            await until(lambda: not connections)
        finally:
            for one in sockets:
                one.close()


async def test_an_answer_that_is_read_slowly_comes_whole(monkeypatch):
    monkeypatch.setattr(protocol, "WRITE_CHECK_S", 1.5)
    async with served(ConnectionLimits(10, 10)) as (port, _):
        made, heard = await asking(port, window=None), 0
        while heard < len(BODY):
            piece = await asyncio.get_running_loop().sock_recv(made, 256 * 1024)
            assert piece, heard
            heard += len(piece)
            await asyncio.sleep(0.05)  # all of it takes longer than nobody is waited for
        made.close()


def test_one_host_may_have_a_tenth_of_many_connections():
    assert [share_of_one(total) for total in (10_000, 2_000, 500, 40)] == [1000, 200, 100, 20]


def test_addresses_of_one_ipv6_network_are_one_host():
    assert host_of("2001:db8::1") == host_of("2001:db8::2") != host_of("2001:db8:1::1")
    assert host_of("::ffff:10.0.0.7") == host_of("10.0.0.7") == "10.0.0.7"


async def test_a_proxy_with_an_ipv4_address_is_trusted_by_a_listener_for_both():
    settings = Settings(environment="test", api_secret=SECRET, api_trusted_proxies=["127.0.0.0/8"])
    limits = limits_of(settings)
    assert limits.is_proxy("127.0.0.1")
    facts = {"proxy_headers": True, "forwarded_allow_ips": settings.api_trusted_proxies}
    async with served(limits._replace(of_one=0), "::", **facts) as (port, _):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(ASK.replace(b"\r\n\r\n", b"\r\nX-Forwarded-For: 198.51.100.7\r\n\r\n"))
        async with asyncio.timeout(20):
            head = await reader.readuntil(b"\r\n\r\n")
        writer.close()
    assert b"x-client: 198.51.100.7" in head
