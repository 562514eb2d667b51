"""The traces of a process, as the settings describe them."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

from horae.runtime.settings import Settings
from horae.runtime.span_export import SpanExporter
from horae.runtime.tracing import Tracer


class ProcessTraces(NamedTuple):
    """The tracer of a process, and the thread that exports its spans, which has metrics."""

    tracer: Tracer
    exporter: SpanExporter


@asynccontextmanager
async def tracing(settings: Settings, shared: ProcessTraces | None = None) -> AsyncIterator[ProcessTraces | None]:
    """Export spans during the block; gives None where `HORAE_TRACES` is off. The last spans leave at the end.

    `shared`: what another part of this process exports with already. It is given back and left running.
    """
    if settings.traces is None or shared is not None:
        yield shared
        return
    exporter = SpanExporter(settings.traces, f"{socket.gethostname()}/{os.getpid()}")
    try:
        yield ProcessTraces(Tracer(settings.traces_sampled, exporter), exporter)
    finally:
        await asyncio.to_thread(exporter.close)
