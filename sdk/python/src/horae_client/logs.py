"""A handler for the `logging` module: what a task's handler logs is shown with its attempt."""

import logging
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import ClassVar

from horae_client.work.context import Context

CURRENT: ContextVar[Context | None] = ContextVar("horae_attempt", default=None)
"""The attempt whose handler runs here. It is set only while a `LogHandler` is in use."""
OWN: str = "horae_client"


class LogHandler(logging.Handler):
    """Sends log records of running handlers to Horae, as lines of their attempts. Records outside of one are ignored.

    It never blocks and never raises. Lines that come faster than they can be sent are dropped, and counted.

    >>> import logging
    >>> from horae_client.logs import LogHandler
    >>> handler = LogHandler(logging.INFO)
    >>> logging.getLogger("shop").addHandler(handler)
    >>> logging.getLogger("shop").warning("outside of an attempt: ignored")
    >>> logging.getLogger("shop").removeHandler(handler)
    >>> handler.close()
    """

    in_use: ClassVar[int] = 0

    def __init__(self, level: int = logging.NOTSET) -> None:
        super().__init__(level)
        self._is_open = True
        LogHandler.in_use += 1

    def emit(self, record: logging.LogRecord) -> None:
        """Add a record to the log of the attempt that runs here."""
        ctx = CURRENT.get()
        if ctx is None or record.name.startswith(OWN):
            return
        try:
            ctx.write_line(self.format(record), record.levelname.lower(), datetime.fromtimestamp(record.created, UTC))
        except Exception:
            self.handleError(record)

    def close(self) -> None:
        """Stop. Handlers that run already are not affected."""
        if self._is_open:
            self._is_open = False
            LogHandler.in_use -= 1
        super().close()
