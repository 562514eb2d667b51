"""How many transactions to read at once, so that a span holds about one page of events.

Events are found by a span of transactions and sorted afterwards. A span with all events of a week would be read again
for each of its pages.
"""

from collections.abc import Collection, Hashable, Sequence
from typing import Final

from horae.store.events.feeds import FeedPlace

FIRST: Final = 2000
"""Transactions in the first span."""
WIDEST: Final = 1 << 40
"""Transactions in a span at most."""
MAX_GROWING_READ_S: Final = 0.5
"""A span that took longer to read does not grow, because statements time out after some seconds."""
SHRINK_FACTOR: Final = 4
"""The factor by which a span that timed out becomes shorter."""


class Strides:
    """Remembers for each reader how many transactions its next span should have."""

    def __init__(self, first: int = FIRST, widest: int = WIDEST) -> None:
        self._first, self._widest = first, widest
        self._of: dict[Hashable, int] = {}

    def of(self, key: Hashable) -> int:
        """Returns how many transactions to read at once."""
        return self._of.get(key, self._first)

    def learn(self, key: Hashable, read: int, found: int, page: int, took_s: float) -> None:
        """Adapt the span of a reader to its last read.

        A full page came from `read` transactions, so the next span has as many. A span with less than half a page
        doubles if it was read quickly.
        """
        if found >= page:
            self._of[key] = max(1, read)
        elif found < page // 2:
            self.grow(key, read, took_s)

    def grow(self, key: Hashable, read: int, took_s: float) -> None:
        """Double the span of a reader if it was read whole and quickly."""
        stride = self.of(key)
        if read >= stride and took_s < MAX_GROWING_READ_S:
            self._of[key] = min(stride * 2, self._widest)

    def shrink(self, key: Hashable) -> None:
        """Shorten the span of a reader after a timeout."""
        self._of[key] = max(1, self.of(key) // SHRINK_FACTOR)

    def keep(self, keys: Collection[Hashable]) -> None:
        """Forget all other readers."""
        self._of = {key: stride for key, stride in self._of.items() if key in keys}


def next_of(places: Sequence[FeedPlace], horizon: int, stride: int) -> tuple[int, int]:
    """Returns the next span: from the lowest position of the shard blocks to the start of a range to skip at most."""
    since = min(place.xid for place in places)
    ends = [place.skip_from for place in places if place.skip_from is not None and place.xid < place.skip_from]
    return since, max(since, min([horizon, since + stride, *ends]))
