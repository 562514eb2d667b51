"""Connections are kept, shared, replaced and given up; whatever happens, the caller hears of it once."""

import asyncio
import time

import pytest

from horae.delivery import client as clients
from horae.delivery.client import Client, ask
from horae.delivery.http import Failure, HttpAnswer, build_request, parse_url
from horae.delivery.names import EgressRefused
from horae.domain.instances.outcomes import ErrorCode
from tests.calm import seen_in_calm
from tests.delivery.server import OK, Visit, polite, saying, serving, silent
from tests.egress import ANYWHERE


async def test_requests_one_after_the_other_share_a_connection(client):
    async with serving(polite) as server:
        for _ in range(5):
            assert await ask(client, server.request()) == HttpAnswer(200, {"content-length": "2"}, b"ok")
        assert server.visits == 1
        await client.close()


async def test_requests_at_once_have_a_connection_each_and_leave_them_for_later(client):
    async with serving(polite) as server:
        for _ in range(3):
            answers = await asyncio.gather(*(ask(client, server.request()) for _ in range(20)))
            assert {answer.status for answer in answers} == {200}
        assert server.visits == 20
        await client.close()


async def test_what_is_sent_names_the_host_and_wants_no_compression(client):
    heard = asyncio.get_running_loop().create_future()

    async def behave(visit: Visit) -> None:
        heard.set_result(await visit.heard())
        await visit.say(OK)

    async with serving(behave) as server:
        await ask(client, server.request("/a?b=c"))
        lines = heard.result().decode().split("\r\n")
        assert lines[0] == "POST /a?b=c HTTP/1.1"
        assert {f"Host: {server.url[7:]}", "Accept-Encoding: identity", "Content-Length: 5"} <= set(lines)
        assert lines[-1] == "hello"


async def test_a_connection_closed_while_idle_is_replaced_unseen(client):
    async with serving(saying(OK)) as server:  # it closes after each answer without a word
        for visits in range(1, 4):
            assert (await ask(client, server.request())).status == 200
            await server.until(lambda server: server.open == 0)
            await until_none_is_left(client)
            assert server.visits == visits


async def test_a_request_that_was_written_is_never_sent_twice(client):
    """The server answers once on each connection and hangs up on the second request."""

    async def behave(visit: Visit) -> None:
        await visit.heard()
        await visit.say(OK)
        server.requests.append(await visit.heard())

    async with serving(behave) as server:
        assert (await ask(client, server.request())).status == 200
        lost = await ask(client, server.request())
        assert lost == Failure(ErrorCode.PROTOCOL, "the connection was closed before an answer came")
        assert (server.visits, len(server.requests)) == (1, 1)
        assert (await ask(client, server.request())).status == 200
        await client.close()


async def test_idle_connections_are_closed_after_a_while():
    client = Client(ANYWHERE, idle_seconds=0.1)
    async with serving(polite) as server:
        await ask(client, server.request())
        assert client.connections == 1
        await server.until(lambda server: server.open == 0)
        await until_none_is_left(client)


async def test_a_server_that_names_its_patience_is_left_before_it_is_over(client):
    async def behave(visit: Visit) -> None:
        while await visit.heard():
            await visit.say(b"HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\nContent-Length: 0\r\n\r\n")

    async with serving(behave) as server:

        async def leave() -> float:
            began = time.monotonic()
            await ask(client, server.request())
            await server.until(lambda server: server.open == 0)
            return time.monotonic() - began

        assert await seen_in_calm(leave, lambda took_s: took_s < 0.9) < 0.9


async def test_the_number_of_connections_is_bounded_and_an_idle_one_gives_way():
    client = Client(ANYWHERE, most=2)
    async with serving(polite) as idle, serving(silent) as busy:
        await ask(client, idle.request())
        waiting = [asyncio.ensure_future(ask(client, busy.request(read_timeout=2))) for _ in range(2)]
        await busy.until(lambda server: server.visits == 2)
        await idle.until(lambda server: server.open == 0)
        refused = await ask(client, busy.request())
        assert refused == Failure(ErrorCode.CONNECT, "all 2 connections are busy", counted=False)
        assert {(await late).code for late in waiting} == {ErrorCode.TIMEOUT}
        await client.close()


async def test_no_more_than_so_many_idle_connections_are_kept(client, monkeypatch):
    monkeypatch.setattr(clients, "MOST_IDLE", 3)
    async with serving(polite) as server:
        answers = await asyncio.gather(*(ask(client, server.request()) for _ in range(10)))
        assert {answer.status for answer in answers if isinstance(answer, HttpAnswer)} == {200}
        assert not [answer for answer in answers if isinstance(answer, Failure)], "those that go have answered too"
        await server.until(lambda server: server.open == 3)
        await client.close()


async def test_whoever_waits_is_told_even_of_what_nobody_expected(client, monkeypatch):
    async def stumbles(*_: object) -> None:
        raise RuntimeError("File descriptor 7 is used by transport")

    monkeypatch.setattr(clients, "dial", stumbles)
    answer = await ask(client, build_request("POST", parse_url("http://127.0.0.1:9/"), {}, b"", 1.0, 1.0))
    assert answer == Failure(ErrorCode.CONNECT, "no connection: RuntimeError")


async def test_the_address_is_what_resolve_says_and_the_host_what_the_url_says():
    heard, asked = [], []

    async def behave(visit: Visit) -> None:
        while request := await visit.heard():
            heard.append(request)
            await visit.say(OK)

    async def resolve(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"]

    client = Client(ANYWHERE, resolve=resolve)
    async with serving(behave) as server:
        url = server.url.replace("127.0.0.1", "shop.example")
        request = build_request("POST", parse_url(url), {}, b"", 1, 1)
        answers = await asyncio.gather(*(ask(client, request) for _ in range(10)))
        assert {answer.status for answer in answers} == {200}
        assert asked == ["shop.example"]
        assert f"Host: {url[7:]}".encode() in heard[0]
        await client.close()


async def test_an_address_that_is_not_allowed_is_refused_and_never_connected_to():
    async def resolve(host: str, port: int) -> list[str]:
        raise EgressRefused(f"{host} is not for us")

    client = Client(ANYWHERE, resolve=resolve)
    async with serving(polite) as server:
        assert await ask(client, server.request()) == Failure(ErrorCode.REFUSED, "127.0.0.1 is not for us")
        assert server.visits == 0


async def test_the_next_address_is_tried_where_the_first_has_nobody(client):
    async def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.2", "127.0.0.1"]

    async with serving(polite) as server:
        client = Client(ANYWHERE, resolve=resolve)
        assert (await ask(client, server.request())).status == 200
        await client.close()


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://127.0.0.1:9/", "no connection to 127.0.0.1:9"),
        ("http://nobody.invalid/", "no connection to nobody.invalid:80"),
        (f"http://{'a' * 64}.example/", "no connection to aaaa"),
    ],
)
async def test_no_connection_is_a_value_that_says_nothing_was_sent(client, url, said):
    failure = await ask(client, build_request("GET", parse_url(url), {}, b"", 2, 1))
    assert failure.code is ErrorCode.CONNECT
    assert failure.message.startswith(said)


async def test_closing_fails_what_is_under_way_and_leaves_nothing_open():
    client = Client(ANYWHERE)
    async with serving(silent) as server:
        under_way = asyncio.ensure_future(ask(client, server.request()))
        await server.until(lambda server: server.visits == 1)
        opening = asyncio.ensure_future(ask(client, server.request()))
        await asyncio.sleep(0)
        await client.close()
        assert await under_way == Failure(ErrorCode.PROTOCOL, "the client was closed")
        assert await opening == Failure(ErrorCode.CONNECT, "the client was closed")
        assert client.connections == 0


async def test_a_callback_that_raises_harms_no_connection(client):
    loop, told, called = asyncio.get_running_loop(), [], asyncio.Event()
    loop.set_exception_handler(lambda _, context: told.append(context["exception"]))

    def done(result: HttpAnswer | Failure) -> None:
        called.set()
        raise ZeroDivisionError

    async with serving(polite) as server:
        client.send(server.request(), done)
        await called.wait()
        assert (await ask(client, server.request())).status == 200
        assert server.visits == 1
        assert [type(error) for error in told] == [ZeroDivisionError]
        await client.close()


async def until_none_is_left(client: Client) -> None:
    async with asyncio.timeout(30):
        await client._deserted.wait()
