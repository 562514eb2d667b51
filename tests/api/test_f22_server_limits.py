"""F22: a stranger without a key gets little of a server's memory, time and connections."""

import asyncio
import re
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest

from tests.api.api_servers import open_doors
from tests.steps import count_statements, query, until
from tests.store.walls import as_role

MB = 1024 * 1024
HEAD = b"GET /healthz HTTP/1.1\r\nHost: x\r\n"


@pytest.fixture
async def door(store, cells, tmp_path):
    async with open_doors(1, tmp_path, as_role(cells, "horae_api")) as [door]:
        yield door


def most_memory_of(pid):
    """The most that a process has had in memory, in MB."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024


async def say(port, *pieces):
    """Send bytes over a socket of one's own; returns the first line of the answer, or that there is none."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        async with asyncio.timeout(20):
            return (await reader.readline()).decode(errors="replace").strip() or "closed"
    except ConnectionError:
        return "closed"
    finally:
        writer.close()


def is_refused(answered):
    return " 431" in answered or answered == "closed"


async def test_f22_a_head_that_is_too_long_is_refused_and_fills_no_memory(door):
    before = most_memory_of(door.pid)
    long = await say(door.port, HEAD + b"X-Long: ", *[b"x" * MB] * 16, b"\r\n\r\n")
    many = await say(door.port, HEAD + b"".join(b"X-%d: y\r\n" % n for n in range(20_000)) + b"\r\n")
    address = await say(door.port, b"GET /" + b"x" * MB + b" HTTP/1.1\r\nHost: x\r\n\r\n")
    assert [is_refused(answered) for answered in (long, many, address)] == [True] * 3
    assert most_memory_of(door.pid) - before < 16
    assert " 200" in await say(door.port, HEAD + b"X: y\r\n" * 90 + b"X-Long: " + b"x" * 20_000 + b"\r\n\r\n")


async def test_f22_who_says_nothing_or_little_is_hung_up_on(door):
    silent = [await asyncio.open_connection("127.0.0.1", door.port) for _ in range(30)]
    slow = [await asyncio.open_connection("127.0.0.1", door.port) for _ in range(30)]
    idle = [await asyncio.open_connection("127.0.0.1", door.port) for _ in range(5)]
    for _, writer in slow:
        writer.write(HEAD + b"X-Slow: ")
    for reader, writer in idle:
        writer.write(HEAD + b"\r\n")
        await reader.readuntil(b"}")
        writer.write(b"\r\n")  # and then nothing
    everyone = [*silent, *slow, *idle]

    def drip():
        for _, writer in slow:
            if not writer.is_closing():
                writer.write(b"x")
        return all(reader.at_eof() or reader.exception() or writer.is_closing() for reader, writer in everyone)

    hearing = [asyncio.create_task(heard(reader)) for reader, _ in everyone]
    try:
        await until(drip, 40)
    finally:
        for _, writer in everyone:
            writer.close()
        await asyncio.gather(*hearing, return_exceptions=True)


async def heard(reader):
    while await reader.read(4096):
        pass


async def test_f22_readiness_is_not_asked_of_the_database_for_every_stranger(door, store):
    counted = "select sum(calls)::int as many from pg_stat_statements where query ilike '%clock_timestamp%'"
    await count_statements(store.cells[0])
    async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{door.port}", timeout=60) as anyone:
        before = (await query(store.cells[0], counted))[0]["many"] or 0
        answers = await asyncio.gather(*(anyone.get("/readyz") for _ in range(300)))
        asked = ((await query(store.cells[0], counted))[0]["many"] or 0) - before
    assert {answer.status_code for answer in answers} == {200}
    assert asked < 100


@asynccontextmanager
async def connected(port, many):
    pairs = [await asyncio.open_connection("127.0.0.1", port) for _ in range(many)]
    try:
        yield pairs
    finally:
        for _, writer in pairs:
            writer.close()


async def test_one_address_may_have_half_of_the_connections(store, cells, tmp_path):
    facts = {"api_connections": "40"}
    async with open_doors(1, tmp_path, as_role(cells, "horae_api"), **facts) as [door]:
        async with connected(door.port, 30) as pairs:
            answered = []
            for reader, writer in pairs:
                try:
                    writer.write(HEAD + b"\r\n")
                    answered.append(await reader.readline())
                except ConnectionError:
                    answered.append(b"")
            assert sum(b" 200" in line for line in answered) == 20
        await until(lambda: is_served(door.port))


async def is_served(port):
    return " 200" in await say(port, HEAD + b"\r\n")


async def test_a_request_that_comes_in_pieces_and_two_at_once_are_served(door):
    reader, writer = await asyncio.open_connection("127.0.0.1", door.port)
    for byte in HEAD + b"\r\n":
        writer.write(bytes([byte]))
        await writer.drain()
    assert b" 200" in await reader.readline()
    await reader.readuntil(b"}")
    writer.write((HEAD + b"\r\n") * 3)
    for _ in range(3):
        assert b" 200" in await reader.readline()
        await reader.readuntil(b"}")
    writer.close()
