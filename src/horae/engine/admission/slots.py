"""The calls a node may have in flight at once, with a part reserved for each class."""

from horae.domain.shares import RESERVED, Class, reserve


class Slots:
    """A class may take a free slot as long as enough stay free for what the others are promised."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.free = total
        self._reserved = reserve(total)
        self._used = dict.fromkeys(RESERVED, 0)
        self._promised = sum(self._reserved.values())  # to classes that use less than their part

    def may(self, class_: Class) -> bool:
        """Whether this class may have one more."""
        own = self._used[class_] < self._reserved[class_]
        return self.free > 0 if own else self.free > self._promised

    def take(self, class_: Class) -> None:
        """One call more."""
        self.free -= 1
        if self._used[class_] < self._reserved[class_]:
            self._promised -= 1
        self._used[class_] += 1

    def give(self, class_: Class) -> None:
        """One call less."""
        self.free += 1
        self._used[class_] -= 1
        if self._used[class_] < self._reserved[class_]:
            self._promised += 1
