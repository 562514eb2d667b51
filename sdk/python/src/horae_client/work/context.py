"""What a handler knows about its attempt."""

import threading
from datetime import datetime
from typing import Any, Final

from msgspec import UNSET

from horae_client.models import Work
from horae_client.wire import aware, encode, said

MAX_COMPENSATIONS: Final = 20
MAX_KEY_CHARACTERS: Final = 200
MAX_TYPE_CHARACTERS: Final = 120
MAX_PAYLOAD_BYTES: Final = 64 * 1024
"""The limits of the server. If it refused a report, an attempt whose effect is done would count as failed."""


class Context:
    """One attempt, as its handler sees it."""

    __slots__ = ("_events", "_lost", "work", "worker_id")

    def __init__(self, work: Work, worker_id: str) -> None:
        self.work = work
        self.worker_id = worker_id
        self._lost: threading.Event | None = None
        self._events: list[dict[str, Any]] | None = None  # most handlers request none

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
