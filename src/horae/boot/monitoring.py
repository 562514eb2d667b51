"""The listener of a process for probes and metrics: `/healthz`, `/readyz` and `/metrics`.

`/healthz` asks nobody, so that no orchestrator restarts a fleet because of a database. `/readyz` reads what the process
knows about its cells. `/metrics` is collected in the event loop, and answers 503 while that stands still.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final, NamedTuple

from horae.boot.ports import not_listening
from horae.boot.supervision import report_to_service_manager
from horae.domain.health.readiness import CellState, is_alive, ready_state
from horae.engine.metrics import NodeMetrics
from horae.engine.node import Node
from horae.runtime.metrics import CONTENT_TYPE, MetricRegistry, MetricSource
from horae.runtime.monitoring import MonitoringPage, MonitoringServer, serve_pages
from horae.runtime.settings import Settings
from horae.runtime.stalls import StallMonitor
from horae.runtime.telemetry import log
from horae.store.cells import Cell
from horae.store.health.metrics import CellMetrics
from horae.store.health.named_metrics import NamedMetrics
from horae.store.store import Store

JSON: Final = "application/json"
COLLECT_TIMEOUT_S: Final = 5.0
"""Seconds that the event loop has for the metrics."""
MAX_CLOCK_AGE_S: Final = 10.0
"""Seconds without an answer after which an API process counts a cell as lost."""


class MonitoredProcess(NamedTuple):
    """What the listener asks: the state of each cell, how long the loop has been silent, and the metrics."""

    cells: Callable[[], list[CellState]]
    loop_silence_s: Callable[[], float]
    metrics: MetricRegistry


def node_process(node: Node, store: Store, stalls: StallMonitor) -> MonitoredProcess:
    """A node, for its listener."""
    registry = MetricRegistry(CellMetrics(store), NamedMetrics(store), NodeMetrics(node), *node.metric_sources)
    return MonitoredProcess(lambda: list(node_cells(node, store)), lambda: stalls.silence_s, registry)


def api_process(store: Store, registry: MetricRegistry, stalls: StallMonitor) -> MonitoredProcess:
    """An API process, for its listener."""
    return MonitoredProcess(lambda: list(_api_cells(store)), lambda: stalls.silence_s, registry)


def node_and_api_process(
    node: Node, store: Store, api_store: Store, metrics: MetricRegistry, stalls: StallMonitor
) -> MonitoredProcess:
    """A node and an API server in one process, for their listener. `metrics` has the requests of the API server.

    The process makes progress in a cell where both of them do.
    """
    sources: list[MetricSource] = [CellMetrics(store, api_store), NamedMetrics(store), NodeMetrics(node)]
    for source in (*sources, *node.metric_sources):
        metrics.add(source)

    def cells() -> list[CellState]:
        of_api = {state.cell: state.trouble for state in _api_cells(api_store)}
        return [
            state if state.trouble else CellState(state.cell, of_api[state.cell] and f"API: {of_api[state.cell]}")
            for state in node_cells(node, store)
        ]

    return MonitoredProcess(cells, lambda: stalls.silence_s, metrics)


@asynccontextmanager
async def listen_for_probes(
    settings: Settings, port: int, process: MonitoredProcess, name: str
) -> AsyncIterator[int | None]:
    """Answer probes while the block runs; gives the port. None where the port is 0: then there is no listener.

    The process also reports to the service manager that started it, if there is one.
    """
    async with report_to_service_manager(process.cells):
        if port:
            with _listener(settings, port, process, name) as listening:
                yield listening
        else:
            yield None


@contextmanager
def _listener(settings: Settings, port: int, process: MonitoredProcess, name: str) -> Iterator[int]:
    loop = asyncio.get_running_loop()

    def metrics() -> MonitoringPage:
        try:
            text = asyncio.run_coroutine_threadsafe(_text(process.metrics), loop).result(COLLECT_TIMEOUT_S)
        except TimeoutError:
            return MonitoringPage(503, b"the event loop does not turn\n")
        return MonitoringPage(200, text, CONTENT_TYPE)

    pages = {"/healthz": lambda: _health_page(process), "/readyz": lambda: _ready_page(process), "/metrics": metrics}
    host = settings.monitoring_host
    try:
        server = MonitoringServer(host, port, pages, settings.monitoring_token or None)
    except OSError as error:
        advice = f"set {name} to another port, or to 0 for no probes"
        raise not_listening(host, port, error, advice, f"{name}, HORAE_MONITORING_HOST") from error
    with serve_pages(server):
        log.info("monitoring.started", address=f"http://{host}:{server.port}")
        yield server.port


async def _text(metrics: MetricRegistry) -> bytes:
    return metrics.text()


def _health_page(process: MonitoredProcess) -> MonitoringPage:
    silence_s = process.loop_silence_s()
    if is_alive(silence_s):
        return MonitoringPage(200, b'{"status":"ok"}\n', JSON)
    return MonitoringPage(
        503, json.dumps({"status": f"the event loop stands still for {silence_s:.0f} s"}).encode(), JSON
    )


def _ready_page(process: MonitoredProcess) -> MonitoringPage:
    cells = process.cells()
    state = ready_state(cells, process.loop_silence_s())
    body = {**state._asdict(), "cells": {cell.cell: cell.trouble or "ok" for cell in cells}}
    return MonitoringPage(200 if state.ready else 503, json.dumps(body).encode() + b"\n", JSON)


def node_cells(node: Node, store: Store) -> Iterator[CellState]:
    """A node makes progress in a cell while its lease is valid, the clock is trusted, and no loop is stuck."""
    stuck = list(node.progress.stuck)
    for cell in store.cells:
        here = [what for what in stuck if what.endswith(f" of {cell.name}")]
        answers = not cell.reach.is_down
        if not node.leases.alive(cell):
            yield CellState(cell.name, "its lease is not renewed", restart_helps=answers)
        elif not cell.clock.trusted:  # a restart would trust the clock that has jumped
            yield CellState(cell.name, "its clock has jumped; `horae cell trust-clock` confirms it when it is right")
        elif here:
            yield CellState(cell.name, f"no progress: {', '.join(here)}", restart_helps=answers)
        else:
            yield CellState(cell.name, None)


def _api_cells(store: Store) -> Iterator[CellState]:
    for cell in store.cells:
        yield CellState(cell.name, None if _answers(cell) else "it does not answer")


def _answers(cell: Cell) -> bool:
    return cell.is_open and not cell.reach.is_down and cell.clock.age() <= MAX_CLOCK_AGE_S
