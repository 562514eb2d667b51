"""Structured logs: one event name, then its facts. JSON for machines, colours for a person at a terminal."""

import logging
import sys

import structlog

log: structlog.stdlib.BoundLogger = structlog.get_logger()


def configure(*, as_json: bool, level: str = "INFO") -> None:
    """Send logs to standard error, so that a command's output stays its own."""
    renderer: structlog.typing.Processor = (
        structlog.processors.JSONRenderer() if as_json else structlog.dev.ConsoleRenderer()
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
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
