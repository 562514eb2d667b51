"""Queues of rows that wait for a batch: first come, first served, or owners in turn."""

from collections import Counter, deque
from collections.abc import Callable, Hashable, Sequence
from typing import Protocol, TypeVar

Row = TypeVar("Row")


class BatchQueue(Protocol[Row]):
    """Waiting rows. Each method takes constant time per row, however many wait."""

    def __len__(self) -> int: ...

    def append(self, row: Row, /) -> None:
        """Add a row."""
        ...

    def take(self, most: int) -> list[Row]:
        """Remove and return the next batch; empty if no row may go now."""
        ...

    def finish(self, batch: Sequence[Row]) -> None:
        """Note that a batch has ended."""
        ...


class FifoQueue(deque[Row]):
    """First come, first served."""

    def take(self, most: int) -> list[Row]:
        """Remove and return the next batch."""
        return [self.popleft() for _ in range(min(most, len(self)))]

    def finish(self, batch: Sequence[Row]) -> None:
        """Do nothing: the order does not depend on running batches."""


class RoundRobinQueue(BatchQueue[Row]):
    """Owners take turns, a row each, and an owner is in at most `batches_of_owner` batches at the same time.

    So an owner with very many rows, or with very slow rows, leaves turns and a batch to the others.
    """

    def __init__(self, owner_of: Callable[[Row], Hashable], batches_of_owner: int) -> None:
        self._owner_of = owner_of
        self._batches_of_owner = batches_of_owner
        self._rows: dict[Hashable, deque[Row]] = {}
        self._ring: deque[Hashable] = deque()
        self._parked: set[Hashable] = set()
        self._running: Counter[Hashable] = Counter()
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def append(self, row: Row, /) -> None:
        """Add a row behind the other rows of its owner."""
        owner = self._owner_of(row)
        rows = self._rows.get(owner)
        if rows is None:
            rows = self._rows[owner] = deque()
            self._ring.append(owner)
        rows.append(row)
        self._size += 1

    def take(self, most: int) -> list[Row]:
        """Remove and return the next batch; empty if every waiting owner is in as many batches as it may be."""
        batch: list[Row] = []
        while self._ring and len(batch) < most:
            owner = self._ring.popleft()
            if self._running[owner] >= self._batches_of_owner:
                self._parked.add(owner)
                continue
            rows = self._rows[owner]
            batch.append(rows.popleft())
            if rows:
                self._ring.append(owner)
            else:
                del self._rows[owner]
        self._size -= len(batch)
        self._running.update(set(map(self._owner_of, batch)))
        return batch

    def finish(self, batch: Sequence[Row]) -> None:
        """Note that a batch has ended: its owners may be in another batch."""
        for owner in set(map(self._owner_of, batch)):
            self._running[owner] -= 1
            if not self._running[owner]:
                del self._running[owner]
            if owner in self._parked:
                self._parked.discard(owner)
                self._ring.append(owner)
