"""What tests of the engine lean on."""

from collections import Counter
from collections.abc import AsyncIterator
from functools import partialmethod

import pytest

from horae.store.store import Store
from horae.store.tx import Tx
from tests.catcher import Catcher, catching


@pytest.fixture
async def catcher(store: Store) -> AsyncIterator[Catcher]:
    async with catching(store.cells[0].clock.now) as catcher:
        yield catcher


@pytest.fixture
def sent(monkeypatch):
    """How many statements were sent."""
    counts = Counter()
    for name in ("rows", "row", "value", "run"):
        monkeypatch.setattr(Tx, name, partialmethod(count, counts, getattr(Tx, name)))
    return counts


def count(tx, counts, send, *args):
    counts["statements"] += 1
    return send(tx, *args)
