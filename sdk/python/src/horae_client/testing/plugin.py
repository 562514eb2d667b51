"""pytest fixtures: `pytest_plugins = ["horae_client.testing.plugin"]` in a `conftest.py`.

The fixture `horae` is a server for one test, on copies of databases that are created once per session. Its time begins
at 2030-01-01 00:00 UTC, or at the time of `@pytest.mark.horae(at="…")`. With `cells=2` its jobs are spread over two
databases.
"""

from collections.abc import Iterator
from typing import Any, Final

import pytest

from horae_client.testing.process import ServerProcess
from horae_client.testing.server import TestServer, serving

BEGIN: Final = "2030-01-01T00:00:00Z"


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark."""
    config.addinivalue_line("markers", "horae(at, cells): where the time of the `horae` fixture begins, and its cells")


@pytest.fixture(scope="session")
def horae_process() -> Iterator[ServerProcess]:
    """The process of the server, until the end of the session."""
    with ServerProcess() as process:
        yield process


@pytest.fixture
def horae(request: pytest.FixtureRequest, horae_process: ServerProcess) -> Iterator[TestServer]:
    """A server whose time the test moves."""
    mark = request.node.get_closest_marker("horae")
    facts: dict[str, Any] = {"at": BEGIN, "cells": 1} | (dict(mark.kwargs) if mark else {})
    with serving(facts["at"], cells=facts["cells"], on=horae_process) as server:
        yield server
