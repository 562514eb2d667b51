"""pytest fixtures: `pytest_plugins = ["horae.testing.plugin"]` in a `conftest.py`.

The fixture `horae` is a server for one test, on copies of databases that are created once per session. Its time begins
at 2030-01-01 00:00 UTC, or at the time of `@pytest.mark.horae(at="…")`. With `cells=2` its jobs are spread over two
databases.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import lru_cache
from typing import Any

import pytest

from horae.testing.databases import Databases, throwaway
from horae.testing.server import TestServer, serving

BEGIN = "2030-01-01T00:00:00Z"


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark."""
    config.addinivalue_line("markers", "horae(at, cells): where the time of the `horae` fixture begins, and its cells")


@pytest.fixture(scope="session")
def horae_databases() -> Iterator[Callable[[int], Databases]]:
    """A private PostgreSQL for each number of cells that a test requests, until the end of the session."""
    with ExitStack() as stack:
        yield lru_cache(lambda cells: stack.enter_context(throwaway(cells)))


@pytest.fixture
def horae(request: pytest.FixtureRequest, horae_databases: Callable[[int], Databases]) -> Iterator[TestServer]:
    """A server whose time the test moves."""
    mark = request.node.get_closest_marker("horae")
    facts: dict[str, Any] = {"at": BEGIN, "cells": 1} | (dict(mark.kwargs) if mark else {})
    with horae_databases(facts["cells"]).fresh() as cells, serving(facts["at"], on=cells) as server:
        yield server
