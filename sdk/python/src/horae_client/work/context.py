"""What a handler knows about its attempt."""

import threading
from collections.abc import Callable
from datetime import datetime
from math import isfinite
from typing import Any, Final, Protocol

from msgspec import UNSET

from horae_client.models import Work
from horae_client.outcomes import text_of
from horae_client.wire import aware, encode, said

MAX_COMPENSATIONS: Final = 20
MAX_KEY_CHARACTERS: Final = 200
MAX_TYPE_CHARACTERS: Final = 120
MAX_PAYLOAD_BYTES: Final = 64 * 1024
"""The limits of the server. If it refused a report, an attempt whose effect is done would count as failed."""
MAX_PROGRESS_CHARACTERS: Final = 200


class Lines(Protocol):
    """Takes the log lines of an attempt."""

    def add(self, text: str, level: str, at: datetime | None = None) -> None:
        """Add a line."""


OpenLog = Callable[[Work], Lines]


class Context:
    """One attempt, as its handler sees it."""

    __slots__ = ("_events", "_lines", "_lost", "_open_log", "_progress", "_result", "work", "worker_id")

    def __init__(self, work: Work, worker_id: str, open_log: OpenLog | None = None) -> None:
        self.work = work
        self.worker_id = worker_id
        self._lost: threading.Event | None = None
        self._events: list[dict[str, Any]] | None = None  # most handlers request none
        self._open_log = open_log
        self._lines: Lines | None = None  # most handlers log nothing
        self._progress: dict[str, Any] | None = None
        self._result: Any = None

    @property
    def type(self) -> str:
        """The type of the task, or the name of the job."""
        return self.work.job

    @property
    def key(self) -> str | None:
        """The business key; None for a job that has none."""
        return self.work.key

    @property
    def payload(self) -> Any:
        """The payload of the task."""
        return self.work.payload

    @property
    def fire_time(self) -> datetime:
        """The nominal time, however late the attempt is and however often it was tried."""
        return self.work.fire_time

    @property
    def attempt(self) -> int:
        """The number of this attempt, counted from 1."""
        return self.work.attempt

    @property
    def idempotency_key(self) -> str:
        """The idempotency key. Record it with the effect, in one transaction, because a task may arrive twice."""
        return self.work.idempotency_key

    @property
    def instance_id(self) -> str:
        """The id of the instance, for logs."""
        return self.work.instance_id

    @property
    def traceparent(self) -> str | None:
        """The W3C trace context of this attempt."""
        return self.work.traceparent

    @property
    def lost(self) -> bool:
        """Whether the attempt was cancelled, replaced or given to another worker. Long handlers should check it."""
        return self._lost is not None and self._lost.is_set()

    def compensate(
        self, type: str, key: str, *, at: datetime | None = None, payload: Any = UNSET, version: int | None = None
    ) -> None:
        """Request a task that is created if, and only if, the end of this attempt is written, in the same transaction.

        Use it for an effect that is not possible now: the task is retried on its own, and created once, whatever fails
        in between. It is dropped if the handler raises `Retry` or `Snooze`, or fails. What the server would refuse
        raises `ValueError` here.

        >>> from horae_client.models import Work
        >>> from horae_client.work.context import Context
        >>> from datetime import UTC, datetime
        >>> now = datetime.now(UTC)
        >>> work = Work(instance_id="ins_1", job="PAY", attempt=1, fire_time=now, idempotency_key="k",
        ...             deadline=now, token="t")
        >>> ctx = Context(work, "w")
        >>> ctx.compensate("REFUND", "order-42", payload={"amount": 5})
        >>> ctx.compensations
        [{'type': 'REFUND', 'key': 'order-42', 'payload': {'amount': 5}}]
        """
        asked = said(type=type, key=key, at=aware(at), payload=payload, version=version)
        _check(asked, len(self.compensations))
        self._events = [*(self._events or ()), asked]

    @property
    def compensations(self) -> list[dict[str, Any]]:
        """The tasks that were requested so far."""
        return self._events or []

    def log(self, text: object, level: str = "info") -> None:
        """Log a line, which is shown with this attempt. It never blocks and never raises; any thread may call it.

        The last 1 MiB of an attempt is kept, for some days. A line has at most 8,000 characters; the rest is cut.

        >>> from datetime import UTC, datetime
        >>> from horae_client.models import Work
        >>> from horae_client.work.context import Context
        >>> now = datetime.now(UTC)
        >>> work = Work(instance_id="ins_1", job="PAY", attempt=1, fire_time=now, idempotency_key="k",
        ...             deadline=now, token="t")
        >>> Context(work, "w").log("page 4 of 10")
        """
        self.write_line(text_of(text), level)

    def write_line(self, text: str, level: str, at: datetime | None = None) -> None:
        """Like `log`, with the time of the line."""
        if self._lines is None:
            if self._open_log is None:
                return
            self._lines = self._open_log(self.work)
        self._lines.add(text, level, at)

    @property
    def has_lines(self) -> bool:
        """Whether a line was logged."""
        return self._lines is not None

    def progress(self, percent: float, text: str = "") -> None:
        """Say how far the attempt is, 0 to 100, in a few words. It is sent with the next heartbeat, soon.

        >>> from datetime import UTC, datetime
        >>> from horae_client.models import Work
        >>> from horae_client.work.context import Context
        >>> now = datetime.now(UTC)
        >>> work = Work(instance_id="ins_1", job="PAY", attempt=1, fire_time=now, idempotency_key="k",
        ...             deadline=now, token="t")
        >>> ctx = Context(work, "w")
        >>> ctx.progress(140, "nearly done")
        >>> ctx.take_progress()
        {'percent': 100.0, 'text': 'nearly done'}
        """
        said = "".join(c if c.isprintable() else " " for c in text_of(text))[:MAX_PROGRESS_CHARACTERS]
        self._progress = {"percent": min(max(float(percent), 0.0), 100.0) if isfinite(percent) else 0.0, "text": said}

    @property
    def has_progress(self) -> bool:
        """Whether a progress waits to be sent."""
        return self._progress is not None

    def take_progress(self) -> dict[str, Any] | None:
        """The progress that waits to be sent; None if there is none. The worker calls this."""
        said, self._progress = self._progress, None
        return said

    def set_result(self, value: Any) -> None:
        """Set what this attempt returns: any JSON of at most 64 KiB. It is stored if the attempt succeeds.

        What the server would refuse raises `ValueError` here. Readers need the permission `payloads.read`.

        >>> from datetime import UTC, datetime
        >>> from horae_client.models import Work
        >>> from horae_client.work.context import Context
        >>> now = datetime.now(UTC)
        >>> work = Work(instance_id="ins_1", job="PAY", attempt=1, fire_time=now, idempotency_key="k",
        ...             deadline=now, token="t")
        >>> ctx = Context(work, "w")
        >>> ctx.set_result({"sent": 3})
        >>> ctx.result
        {'sent': 3}
        """
        try:
            size = len(encode(value))
        except (TypeError, ValueError, RecursionError) as error:
            raise ValueError(f"the result cannot be written as JSON: {error}") from error
        if size > MAX_PAYLOAD_BYTES:
            raise ValueError(f"a result has at most {MAX_PAYLOAD_BYTES} bytes, not {size}")
        self._result = value

    @property
    def result(self) -> Any:
        """What this attempt returns, as set so far."""
        return self._result

    def lose(self) -> None:
        """Mark the attempt as lost. The worker calls this."""
        if self._lost is None:
            self._lost = threading.Event()
        self._lost.set()


def _check(asked: dict[str, Any], before: int) -> None:
    """Refuse what the server would refuse, while the handler can still react."""
    if before >= MAX_COMPENSATIONS:
        raise ValueError(f"one attempt asks for at most {MAX_COMPENSATIONS} tasks")
    for name, longest in (("type", MAX_TYPE_CHARACTERS), ("key", MAX_KEY_CHARACTERS)):
        text = asked.get(name)
        if not isinstance(text, str) or not 1 <= len(text) <= longest or not text.isprintable():
            raise ValueError(f"the {name} of a task is 1 to {longest} printable characters, not {text!r}")
    try:
        size = len(encode(asked.get("payload")))
        encode(asked)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"the task {asked['key']!r} cannot be written as JSON: {error}") from error
    if size > MAX_PAYLOAD_BYTES:
        raise ValueError(f"a payload has at most {MAX_PAYLOAD_BYTES} bytes, not {size}")
