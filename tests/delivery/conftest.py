"""These tests run on uvloop, as a node does."""

from collections.abc import AsyncIterator

import pytest
import uvloop

from horae.delivery.client import Client
from horae.delivery.push import Sender
from tests.delivery.server import Received, Server, serving
from tests.egress import ANYWHERE


def pytest_asyncio_loop_factories(config, item):
    return {"uvloop": uvloop.new_event_loop}


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    client = Client(ANYWHERE)
    yield client
    await client.close()


@pytest.fixture
def received() -> Received:
    return Received()


@pytest.fixture
async def server(received: Received, client: Client) -> AsyncIterator[Server]:
    async with serving(received.behave) as server:
        yield server
        await client.close()


@pytest.fixture
async def sender(client: Client) -> Sender:
    return Sender(client)
