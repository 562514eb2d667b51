"""The server of tests in this process, so that its rows can be looked at, on databases that are made once."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import lru_cache

import pytest

from horae.testing.databases import Databases, throwaway
from horae.testing.server import TestServer, serving

BEGIN = "2030-01-01T00:00:00Z"


@pytest.fixture(scope="package")
def horae_databases() -> Iterator[Callable[[int], Databases]]:
    with ExitStack() as stack:
        yield lru_cache(lambda cells: stack.enter_context(throwaway(cells)))


@pytest.fixture
def horae(request: pytest.FixtureRequest, horae_databases: Callable[[int], Databases]) -> Iterator[TestServer]:
    mark = request.node.get_closest_marker("horae")
    facts = {"at": BEGIN, "cells": 1} | (dict(mark.kwargs) if mark else {})
    with horae_databases(facts["cells"]).fresh() as cells, serving(facts["at"], on=cells) as server:
        yield server
