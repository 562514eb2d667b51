"""`horae-probe`, the health check of the image, beside real listeners."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from horae.runtime.monitoring import MonitoringPage, MonitoringServer, serve_pages
from tests.deploy.test_dockerfile import IMAGE

WELL = {"/healthz": lambda: MonitoringPage(200, b"ok\n"), "/readyz": lambda: MonitoringPage(200, b"ok\n")}
NOT_READY = WELL | {"/readyz": lambda: MonitoringPage(503, b"no cell answers\n")}
NOBODY = "1"
"""A port on which nobody listens."""


@pytest.fixture
def listeners() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def listen(stack: ExitStack, pages) -> str:
    server = MonitoringServer("127.0.0.1", 0, pages)
    stack.enter_context(serve_pages(server))
    return str(server.port)


def probe(node: str, api: str, *arguments: str) -> tuple[int, str]:
    ports = {"HORAE_NODE_MONITORING_PORT": node, "HORAE_API_MONITORING_PORT": api}
    command = [sys.executable, "-IS", IMAGE / "probe.py", *arguments]
    done = subprocess.run(command, env=os.environ | ports, capture_output=True, text=True, check=False, timeout=30)
    return done.returncode, done.stdout + done.stderr


def test_a_node_or_an_api_process_that_answers_is_healthy(listeners):
    port = listen(listeners, WELL)
    assert probe(port, NOBODY) == (0, "")
    assert probe(NOBODY, port) == (0, "")
    assert probe(NOBODY, port, "/readyz") == (0, "")


def test_a_process_is_alive_and_not_ready(listeners):
    port = listen(listeners, NOT_READY)
    assert probe(port, NOBODY) == (0, "")
    status, said = probe(port, NOBODY, "/readyz")
    assert (status, f"port {port}: HTTP/1.0 503" in said) == (1, True), said


def test_of_two_listeners_both_must_be_well(listeners):
    status, said = probe(listen(listeners, WELL), listen(listeners, NOT_READY), "/readyz")
    assert (status, "503" in said) == (1, True), said


def test_a_container_in_which_nobody_listens_is_not_healthy():
    assert probe(NOBODY, "0") == (1, "nobody listens on 1 or 0\n")
