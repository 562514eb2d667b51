"""The tails that wait in one process, by instance, and how many a tenant has."""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final
from uuid import UUID

from horae.domain.errors import RateLimited
from horae.runtime.waker import Waker

MAX_TAILS: Final = 200
"""Tails that a process serves at once: each reads twice a second."""
MAX_TAILS_OF_TENANT: Final = 20


class LogWakers:
    """Wakes the tails of an instance when this process has stored lines of it. A hint: tails also read by time."""

    def __init__(self) -> None:
        self._waiting: dict[UUID, set[Waker]] = {}
        self._of_tenant: Counter[UUID] = Counter()
        self.is_closed = False

    def wake(self, instances: Iterable[UUID]) -> None:
        """Wake the tails of these instances."""
        if self._waiting:
            for instance_id in instances:
                for waker in self._waiting.get(instance_id, ()):
                    waker.wake()

    def close(self) -> None:
        """End all tails, so that a stopping process can finish."""
        self.is_closed = True
        self.wake(list(self._waiting))

    def check_room(self, tenant_id: UUID) -> None:
        """Raise RateLimited where there are too many tails."""
        if self._of_tenant[tenant_id] >= MAX_TAILS_OF_TENANT or self._of_tenant.total() >= MAX_TAILS:
            raise RateLimited(f"{MAX_TAILS_OF_TENANT} tails of a tenant are served at once by a process", 5.0)

    @contextmanager
    def join(self, tenant_id: UUID, instance_id: UUID) -> Iterator[Waker]:
        """Yields a waker for one tail. Raises RateLimited where there are too many tails."""
        self.check_room(tenant_id)
        waker = Waker()
        self._of_tenant[tenant_id] += 1
        self._waiting.setdefault(instance_id, set()).add(waker)
        try:
            yield waker
        finally:
            self._of_tenant[tenant_id] -= 1
            self._waiting[instance_id].discard(waker)
            if not self._waiting[instance_id]:
                del self._waiting[instance_id]
            if not self._of_tenant[tenant_id]:
                del self._of_tenant[tenant_id]
