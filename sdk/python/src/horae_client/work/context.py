"""What a handler is told about the attempt it runs."""

import threading
from datetime import datetime
from typing import Any

from msgspec import UNSET

from horae_client.models import Work
from horae_client.wire import aware, said


class Context:
    """One attempt, as its handler sees it."""

    __slots__ = ("_events", "_lost", "work", "worker_id")

    def __init__(self, work: Work, worker_id: str) -> None:
        self.work = work
        self.worker_id = worker_id
        self._lost: threading.Event | None = None
        self._events: list[dict[str, Any]] | None = None  # most ask for nothing

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
        """What came with it."""
        return self.work.payload

    @property
    def fire_time(self) -> datetime:
        """When it was meant to happen, however late it is or often it was tried."""
        return self.work.fire_time

    @property
    def attempt(self) -> int:
        """Which try this is, counted from 1."""
        return self.work.attempt

    @property
    def idempotency_key(self) -> str:
        """Record it with the effect, in one transaction: the same task may come twice."""
        return self.work.idempotency_key

    @property
    def instance_id(self) -> str:
        """The instance, for logs."""
        return self.work.instance_id

    @property
    def traceparent(self) -> str | None:
        """The W3C trace context of this attempt."""
        return self.work.traceparent

    @property
    def lost(self) -> bool:
        """Whether it is no longer ours: cancelled, replaced, or given to another. A long handler looks now and then."""
        return self._lost is not None and self._lost.is_set()

    def compensate(
        self, type: str, key: str, *, at: datetime | None = None, payload: Any = UNSET, version: int | None = None
    ) -> None:
        """Ask for a task that is made if, and only if, this attempt's end is written: in one transaction with it.

        For an effect that could not be had now: the task is retried on its own, and made once however often anything
        in between fails. It is dropped when the handler raises `Retry` or `Snooze`, or fails.

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
        self._events = [*(self._events or ()), asked]

    @property
    def compensations(self) -> list[dict[str, Any]]:
        """What was asked for so far."""
        return self._events or []

    def lose(self) -> None:
        """It is no longer ours; said by the worker."""
        if self._lost is None:
            self._lost = threading.Event()
        self._lost.set()
