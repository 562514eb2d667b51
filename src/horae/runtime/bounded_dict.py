"""A dictionary with a limit: when it is full, a new key takes the place of the oldest one.

A plain `dict` is slow at this. The search for its first key passes over the places of all keys that were removed
before, and these are many by the time it is built anew.
"""

from collections import OrderedDict
from collections.abc import Hashable
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class BoundedDict(OrderedDict[Key, Value]):
    """At most `most` keys. A key that is set again keeps its place."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: Key, value: Value) -> None:
        if key not in self and len(self) >= self._most:
            self.popitem(last=False)
        super().__setitem__(key, value)
