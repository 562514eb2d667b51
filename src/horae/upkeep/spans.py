"""How wide a span of transactions to read at once: one that holds about a page, however many rows each wrote.

Events are found by the span of their transactions and sorted afterwards, so a span that held everything since last week
would be read anew for each of its pages.
"""

from collections.abc import Collection, Hashable, Sequence
from typing import Final

from horae.store.feeds import Place

FIRST: Final = 2000
WIDEST: Final = 1 << 40
GROW_BELOW_S: Final = 0.5
"""A span that took longer to read is not made wider: statements that take some seconds are cut."""
SHRINK_BY: Final = 4


class Strides:
    """Remembers, for whatever reads, how wide its next span should be."""

    def __init__(self) -> None:
        self._of: dict[Hashable, int] = {}

    def of(self, key: Hashable) -> int:
        """How many transactions to read at once."""
        return self._of.get(key, FIRST)

    def learn(self, key: Hashable, read: int, found: int, page: int, took_s: float) -> None:
        """A full page came from `read` transactions; or the span held less, and may be wider if it was read quickly."""
        stride = self.of(key)
        if found >= page:
            self._of[key] = max(1, read)
        elif found < page // 2 and read >= stride and took_s < GROW_BELOW_S:
            self._of[key] = min(stride * 2, WIDEST)

    def shrink(self, key: Hashable) -> None:
        """The span took too long to be read at all."""
        self._of[key] = max(1, self.of(key) // SHRINK_BY)

    def keep(self, keys: Collection[Hashable]) -> None:
        """Forget all others."""
        self._of = {key: stride for key, stride in self._of.items() if key in keys}


def next_of(places: Sequence[Place], horizon: int, stride: int) -> tuple[int, int]:
    """The next span: from where the last of the blocks stands, not over the beginning of what is to be skipped."""
    since = min(place.xid for place in places)
    ends = [place.skip_from for place in places if place.skip_from is not None and place.xid < place.skip_from]
    return since, max(since, min([horizon, since + stride, *ends]))
