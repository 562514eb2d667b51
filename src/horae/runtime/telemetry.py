"""Structured logs and counts. A log line is an event name and its facts: JSON for machines, coloured text for people.

Deliberate refusals are counted by the name of their event, as long as the process runs.
"""

import logging
import sys
from collections import Counter
from typing import Final

import structlog

log: structlog.stdlib.BoundLogger = structlog.get_logger()
counts: Final[Counter[str]] = Counter()


def count(event: str, by: int = 1, **facts: object) -> None:
    """Count an event and log it; nothing if `by` is zero."""
    if by:
        counts[event] += by
        log.info(event, count=by, **facts)


def configure(*, as_json: bool, level: str = "INFO") -> None:
    """Send logs to standard error, so that standard output contains only the output of a command.

    Text has colours only on a terminal: in a file they would be noise.
    """
    renderer: structlog.typing.Processor = (
        structlog.processors.JSONRenderer() if as_json else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level]),
        # Looked up for every line: an embedding program or a test may have replaced the stream.
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
        cache_logger_on_first_use=False,
    )
