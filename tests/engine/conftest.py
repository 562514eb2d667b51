"""What tests of the engine lean on."""

from collections.abc import AsyncIterator

import pytest

from horae.store.store import Store
from tests.catcher import Catcher, catching


@pytest.fixture
async def catcher(store: Store) -> AsyncIterator[Catcher]:
    async with catching(store.cells[0].clock.now) as catcher:
        yield catcher
