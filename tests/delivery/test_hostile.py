"""Targets that mean harm: none of them gets more of our memory, or holds a slot longer, than it was given."""

import asyncio
import gc
import gzip
import mmap
import os
import socket
import time
from itertools import repeat
from pathlib import Path

import pytest

from horae.delivery.client import ask
from horae.delivery.http import Failure, HttpAnswer
from horae.delivery.reading import MAX_KEPT_BODY_BYTES
from horae.domain.instances.outcomes import ErrorCode
from tests.calm import seen_in_calm
from tests.delivery.server import OK, Visit, saying, serving, silent

TIMEOUT = 0.4
TICKS = 0.3  # the ticker's own step, and a machine that is busy
LATEST = TIMEOUT + TICKS + 1.0
PATIENT = 10.0  # what ends by itself ends before, on a slow machine, too
REQUESTS = 20
MOST_GROWTH = 1024 * 1024  # a fifth of what is allowed: without the limits, some cases stay below that
HEAD = b"HTTP/1.1 200 OK\r\n"
PIECE = b"x" * 65536


def endless(before: bytes, piece: bytes, pieces: int = 1 << 14):
    """Say something, then the same piece for as long as anyone listens."""

    async def behave(visit: Visit) -> None:
        await visit.heard()
        await visit.say(before)
        for _ in repeat(None, pieces):
            await visit.say(piece)
            await asyncio.sleep(0)  # the other side lives in the same loop

    return behave


def trickle(before: bytes, piece: bytes, seconds: float = 0.05):
    """Say something, then a byte now and then."""

    async def behave(visit: Visit) -> None:
        await visit.heard()
        await visit.say(before)
        closed = asyncio.ensure_future(visit.reader.read())
        while not (await asyncio.wait({closed}, timeout=seconds))[0]:
            await visit.say(piece)
        await closed

    return behave


BOMB = gzip.compress(b"\0" * 50_000_000)

CUT = {
    "a gigabyte with its length": endless(HEAD + b"Content-Length: 1073741824\r\n\r\n", PIECE),
    "a gigabyte in chunks": endless(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"10000\r\n" + PIECE + b"\r\n"),
    "a gigabyte until the end": endless(HEAD + b"Connection: close\r\n\r\n", PIECE),
    "chunks of one byte": endless(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n" * 8192),
    "an endless chunk extension": endless(HEAD + b"Transfer-Encoding: chunked\r\n\r\n1;", PIECE),
}
PROTOCOL = {
    "endless headers": endless(HEAD, b"X-Y: z\r\n" * 1024),
    "endless trailers": endless(HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"X-Y: z\r\n" * 1024),
    "101 headers": saying(HEAD + b"X-Y: z\r\n" * 101 + b"Content-Length: 0\r\n\r\n"),
    "one header without end": endless(HEAD + b"X-Y: ", PIECE),
    "one header of 40 KB": saying(HEAD + b"X-Y: " + b"z" * 40_000 + b"\r\nContent-Length: 0\r\n\r\n"),
    "a status line without end": endless(b"HTTP/1.1 200 ", PIECE),
    "endless interim answers": endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "endless early hints": endless(b"", b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"),
    "a protocol nobody asked for": saying(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"
    ),
    "rubbish": saying(b"\x16\x03\x01 what?\r\n\r\n"),
    "rubbish without end": endless(b"", b"\xff" * 4096),
    "another protocol": saying(b"220 mail.example ESMTP\r\n"),
    "nothing at all": saying(),
    "half a head": saying(HEAD + b"Content-Le"),
    "half a body": saying(HEAD + b"Content-Length: 10\r\n\r\nhalf"),
    "half a chunk": saying(HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhal"),
    "two lengths": saying(HEAD + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\nok"),
    "length and chunks": saying(HEAD + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
    "a negative length": saying(HEAD + b"Content-Length: -1\r\n\r\n"),
    "a length beyond all numbers": saying(HEAD + b"Content-Length: 99999999999999999999999\r\n\r\n"),
    "a chunk size beyond all numbers": saying(HEAD + b"Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nx"),
    "a header with a null in it": saying(HEAD + b"X-Y: a\0b\r\nContent-Length: 0\r\n\r\n"),
}
TIMEOUTS = {
    "never an answer": silent,
    "a head byte by byte": trickle(HEAD + b"X-Y: ", b"z"),
    "a body byte by byte": trickle(HEAD + b"Content-Length: 1000\r\n\r\n", b"x"),
    "a chunk byte by byte": trickle(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
    "a body until an end that never comes": trickle(HEAD + b"\r\n", b"x"),
    "interim answers one by one": trickle(b"", b"HTTP/1.1 102 Processing\r\n\r\n", 0.2),
}


def is_in_time(took_s: float) -> bool:
    return took_s < LATEST


def by_name(cases):
    return pytest.mark.parametrize("behave", list(cases.values()), ids=list(cases))


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def peak() -> int:
    """The most that was resident since `forget_peak`: what was taken and given back in between counts."""
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) * 1024


async def meet(client, behave) -> list[HttpAnswer | Failure]:
    """Meet it twenty times; what it costs in memory is bounded whatever it says. No answer tells of a timeout."""
    async with serving(behave) as server:
        await ask(client, server.request(read_timeout=PATIENT))
        gc.collect()
        forget_peak()
        before = resident()
        results = await asyncio.gather(*(ask(client, server.request(read_timeout=PATIENT)) for _ in range(REQUESTS)))
        growth = peak() - before
        await client.close()
        assert growth < REQUESTS * MOST_GROWTH
        assert client.connections == 0
    return results


def test_the_gauge_sees_memory_that_was_given_back():
    forget_peak()
    before = resident()
    # Pages of its own: the heap may hand out again what an earlier test left resident, and nothing would grow.
    with mmap.mmap(-1, 20_000_000) as taken:
        taken.write(b"x" * len(taken))
    assert 19_000_000 < peak() - before < 40_000_000


@by_name(CUT)
async def test_a_body_is_cut_and_its_status_counts(client, behave):
    for result in await meet(client, behave):
        assert isinstance(result, HttpAnswer)
        assert (result.status, result.cut) == (200, True)
        assert len(result.body) <= MAX_KEPT_BODY_BYTES


@by_name(PROTOCOL)
async def test_what_is_no_answer_is_told_as_such(client, behave):
    for result in await meet(client, behave):
        assert isinstance(result, Failure)
        assert result.code is ErrorCode.PROTOCOL


@by_name(TIMEOUTS)
async def test_a_slot_is_free_when_its_time_is_up_however_slowly_someone_talks(client, behave):
    async with serving(behave) as server:

        async def wait() -> float:
            began = time.monotonic()
            asked = (ask(client, server.request(read_timeout=TIMEOUT)) for _ in range(REQUESTS))
            results = await asyncio.gather(*asked)
            took_s = time.monotonic() - began
            assert took_s >= TIMEOUT
            assert results == [Failure(ErrorCode.TIMEOUT, "timed out after 0.4 s (read_timeout)")] * REQUESTS
            await server.until(lambda server: server.open == 0)
            return took_s

        assert await seen_in_calm(wait, is_in_time) < LATEST


async def test_a_compressed_body_is_never_unpacked(client):
    behave = saying(HEAD + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(BOMB), BOMB)
    async with serving(behave) as server:
        result = await ask(client, server.request())
        assert isinstance(result, HttpAnswer)
        assert result.body == BOMB[:MAX_KEPT_BODY_BYTES]


async def test_a_second_answer_is_not_the_answer_to_the_next_request(client):
    """Response splitting: what was not asked for is thrown away with its connection."""
    evil = b"HTTP/1.1 200 OK\r\nHorae-Outcome: declined\r\nContent-Length: 4\r\n\r\nevil"
    for said in ((OK + evil,), (OK, evil), (OK + b"rubbish",), (OK, b"rubbish")):
        async with serving(saying(*said)) as server:
            for _ in range(3):
                result = await ask(client, server.request())
                if isinstance(result, HttpAnswer):  # a request may meet the connection as it is being thrown away
                    assert (result.body, "horae-outcome" in result.headers) == (b"ok", False)
            await client.close()


async def test_trailers_change_nothing(client):
    said = HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nHorae-Outcome: declined\r\n\r\n"
    async with serving(saying(said)) as server:
        result = await ask(client, server.request())
        assert result == HttpAnswer(200, {"transfer-encoding": "chunked"}, b"ok")


async def test_interim_answers_are_passed_over(client):
    said = b"HTTP/1.1 100 Continue\r\n\r\n" + b"HTTP/1.1 103 Early Hints\r\nHorae-Outcome: declined\r\n\r\n" + OK
    for pieces in ((said,), [said[at : at + 1] for at in range(len(said))]):
        async with serving(saying(*pieces)) as server:
            assert await ask(client, server.request()) == HttpAnswer(200, {"content-length": "2"}, b"ok")


async def test_a_target_that_does_not_read_frees_its_slot(client):
    async def behave(visit: Visit) -> None:
        visit.writer.transport.pause_reading()
        await over.wait()

    over = asyncio.Event()
    async with serving(behave) as server:
        request = server.request(read_timeout=TIMEOUT)
        result = await ask(client, request._replace(data=request.data + b"x" * 20_000_000))
        assert isinstance(result, Failure)
        assert result.code is ErrorCode.TIMEOUT
        assert client.connections <= 1
        over.set()
        await client.close()


async def test_nobody_who_accepts_means_no_connection_within_the_connect_timeout(client):
    """A listener whose queue is full lets nobody in."""
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        fillers = []
        for _ in range(3):
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(full.getsockname())
            fillers.append(filler)
        async with serving(silent) as server:
            request = server.request()
            origin = request.origin._replace(port=full.getsockname()[1])

            async def wait() -> float:
                began = time.monotonic()
                result = await ask(client, request._replace(origin=origin, connect_timeout=TIMEOUT))
                assert isinstance(result, Failure)
                assert result.code is ErrorCode.CONNECT
                return time.monotonic() - began

            assert await seen_in_calm(wait, is_in_time) < LATEST
        for filler in fillers:
            filler.close()
