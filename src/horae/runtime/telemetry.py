"""Structured logs and counts. A log line is one event name, then its facts: JSON for machines, colours for a person.

What is refused on purpose is counted, by the name of its event, for as long as the process lives.
"""

import logging
import sys
from collections import Counter
from typing import Final

import structlog

log: structlog.stdlib.BoundLogger = structlog.get_logger()
counts: Final[Counter[str]] = Counter()


def count(event: str, by: int = 1, **facts: object) -> None:
    """Count an event and log it; nothing when there was none."""
    if by:
        counts[event] += by
        log.info(event, count=by, **facts)


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
        # Asked for at every line: whoever embeds us, or a test, may have put another stream there since.
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
        cache_logger_on_first_use=False,
    )
