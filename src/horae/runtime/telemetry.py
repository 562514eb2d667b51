"""Structured logs and counts. A log line is an event name and its facts: JSON for machines, coloured text for people.

Every line says which process wrote it, and, where they are known, which tenant, job, instance and trace it is about.
Deliberate refusals are counted by the name of their event, as long as the process runs.
"""

import logging
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Any, Final
from uuid import UUID

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from horae.domain.ids import Prefix, public
from horae.runtime.bounded_dict import BoundedDict
from horae.runtime.clock import boottime

log: structlog.stdlib.BoundLogger = structlog.get_logger()
bind = structlog.contextvars.bind_contextvars
"""Adds facts to every line that this task logs from now on."""
unbind = structlog.contextvars.unbind_contextvars
"""Removes facts that `bind` has added, by their names."""
counts: Final[Counter[str]] = Counter()
PUBLIC_IDS: Final = {"tenant": Prefix.TENANT, "job": Prefix.JOB, "instance": Prefix.INSTANCE, "node": Prefix.NODE}
"""Facts that are ids: a line shows them as the API does."""
UUID_CHARACTERS: Final = 36
TRACEBACK_INTERVAL_S: Final = 3600.0
"""Seconds after which an error of the same cause has a line again."""
MAX_KNOWN_CAUSES: Final = 1000
"""Causes that a process remembers; the one that was logged longest ago is forgotten first."""
REPEATED: Final = "log.repeated"
"""The count of lines that were left out because they repeated an error."""
_process: dict[str, object] = {}


def count(event: str, by: int = 1, **facts: object) -> None:
    """Count an event and log it; nothing if `by` is zero."""
    if by:
        counts[event] += by
        log.info(event, count=by, **facts)


def time_ago(seconds: float) -> str:
    """The time so many seconds ago, by the clock of the log: for a fact of a line, and for nothing else."""
    return (datetime.now(UTC) - timedelta(seconds=seconds)).isoformat(timespec="seconds")


def identify(**facts: object) -> None:
    """Name this process in every line that it logs from now on, in all tasks and threads."""
    _process.clear()
    _process.update(facts)


def configure(*, as_json: bool, level: str = "INFO") -> None:
    """Send logs to standard error, so that standard output contains only the output of a command.

    Text has colours only on a terminal: in a file they would be noise.
    """
    renderer: Processor = (
        structlog.processors.JSONRenderer() if as_json else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            RepeatedErrors(),
            add_ids,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level]),
        # Looked up for every line: an embedding program or a test may have replaced the stream.
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
        cache_logger_on_first_use=False,
    )


def add_ids(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Add which process writes the line, show ids as the API does, and add the trace of an instance: its id."""
    for name, value in _process.items():
        event.setdefault(name, value)
    for name, prefix in PUBLIC_IDS.items():
        id_ = _uuid_of(event.get(name))
        if id_ is not None:
            event[name] = public(prefix, id_)
            if prefix == Prefix.INSTANCE:
                event.setdefault("trace_id", id_.hex)
    return event


class RepeatedErrors:
    """Leaves out a line whose error was logged less than an hour ago.

    It is the same error if event, duty, type and the place where it was raised are the same.
    The next line after that hour says in `repeated` how many were left out. They are also counted as `log.repeated`.
    """

    def __init__(self) -> None:
        self._known = BoundedDict[tuple[object, ...], tuple[float, int]](MAX_KNOWN_CAUSES)

    def __call__(self, _logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        """Return the line, or drop it."""
        error = _error_of(event.get("exc_info"))
        if error is None:
            return event
        place, now = _place_of(error.__traceback__), boottime()
        cause = (event.get("event"), event.get("duty"), type(error), *place)
        logged_at, repeated = self._known.get(cause, (None, 0))
        if logged_at is not None and now - logged_at < TRACEBACK_INTERVAL_S:
            self._known[cause] = logged_at, repeated + 1
            counts[REPEATED] += 1
            raise structlog.DropEvent
        self._known.pop(cause, None)  # keeps the dictionary in the order of time
        self._known[cause] = now, 0
        if repeated:
            event["repeated"] = repeated
        return event


def _uuid_of(value: object) -> UUID | None:
    if isinstance(value, UUID):
        return value
    if not isinstance(value, str) or len(value) != UUID_CHARACTERS:
        return None
    try:
        return UUID(value)
    except ValueError:
        return None


def _error_of(given: Any) -> BaseException | None:
    """The error of a line: `exc_info` is an error, a triple as `sys.exc_info` has it, or true for the current error."""
    if isinstance(given, BaseException):
        return given
    found = given if isinstance(given, tuple) else sys.exc_info() if given else (None, None, None)
    return found[1] if isinstance(found[1], BaseException) else None


def _place_of(trace: TracebackType | None) -> tuple[str, int]:
    """The file and the line where an error was raised."""
    if trace is None:
        return "", 0
    while trace.tb_next is not None:
        trace = trace.tb_next
    return trace.tb_frame.f_code.co_filename, trace.tb_lineno
