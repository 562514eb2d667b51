"""These tests run on uvloop, as a node does."""

from collections.abc import AsyncIterator

import pytest
import uvloop

from horae.delivery.client import Client


def pytest_asyncio_loop_factories(config, item):
    return {"uvloop": uvloop.new_event_loop}


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    client = Client()
    yield client
    await client.close()
