"""What NATS's library says in passing, and what is made of it."""

import asyncio

import pytest

from horae.delivery.brokers import nats
from horae.domain.errors import Unavailable
from horae.runtime.settings import BrokerSettings


class Library:
    """Stands for a pull and for a client of the library: nothing comes, and it never lets go."""

    is_closed = silent = False

    async def fetch(self, _limit, timeout):
        raise TimeoutError  # Python's own, not the library's: it does so when its time is up between two requests

    async def rtt(self, _seconds):
        if self.silent:
            raise TimeoutError

    async def close(self):
        await asyncio.Future()


def a_source():
    source = nats.NatsConsumer(BrokerSettings.model_validate({"kind": "nats", "url": "nats://127.0.0.1:9"}), "t", "g")
    source._pull = source._client = Library()
    return source


async def test_nothing_came_is_not_taken_for_away():
    """Else it would connect anew each time, and what was given out meanwhile would wait a minute."""
    assert await a_source().take(10, 0.1) == []


async def test_a_server_that_is_silent_is_not_taken_for_one_that_has_nothing():
    """The library sees it after six minutes; all that time the intake would stand still."""
    source = a_source()
    source._client.silent = True
    with pytest.raises(Unavailable):
        await source.take(10, 0.1)


async def test_a_connection_that_does_not_close_holds_nobody_up(monkeypatch):
    monkeypatch.setattr(nats, "CONNECT_TIMEOUT_S", 0.01)
    async with asyncio.timeout(30):
        await a_source().close()
