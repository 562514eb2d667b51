"""Reads objects for one search: counts requests, keeps small objects in memory, and fetches neighbours in one request.

Objects never change: the names of files follow from their content, and no manifest is ever written again. So an object
in memory is right for as long as anybody asks for it.
"""

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

from horae.archive.row_queries import ReadMeter
from horae.archive.targets import ArchiveTarget

SMALL_OBJECT_BYTES: Final = 1 << 20
"""An object up to this size is read whole: one request takes longer than its bytes."""
CACHE_BYTES: Final = 64 << 20


class ObjectCache:
    """The small objects that were read last. One per process; several threads may use it."""

    def __init__(self, most_bytes: int = CACHE_BYTES) -> None:
        self._most_bytes, self._bytes = most_bytes, 0
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._lock = Lock()

    def get(self, name: str) -> bytes | None:
        """An object, if it is here."""
        with self._lock:
            found = self._kept.get(name)
            if found is not None:
                self._kept.move_to_end(name)
            return found

    def put(self, name: str, content: bytes) -> None:
        """Keep an object, and forget those that were not asked for the longest."""
        with self._lock:
            if name not in self._kept:
                self._kept[name] = content
                self._bytes += len(content)
            while self._bytes > self._most_bytes:
                _, forgotten = self._kept.popitem(last=False)
                self._bytes -= len(forgotten)


class CountedTarget:
    """The readable side of a target (`horae.archive.targets.ArchiveTarget`), for one search."""

    def __init__(self, target: ArchiveTarget, cache: ObjectCache, meter: ReadMeter) -> None:
        self._target, self._cache, self.meter = target, cache, meter
        self._parts: dict[str, list[tuple[int, bytes]]] = {}

    def get(self, name: str) -> bytes:
        """Read a whole object."""
        found = self._cache.get(name)
        if found is None:
            self.meter.check()
            found = self._target.get(name)
            self.meter.count(len(found))
            if len(found) <= SMALL_OBJECT_BYTES:
                self._cache.put(name, found)
        return found

    def get_range(self, name: str, start: int, length: int) -> bytes:
        """Read a part of an object, from memory where it is there."""
        whole = self._cache.get(name)
        if whole is not None:
            return whole[start : start + length]
        for begin, part in self._parts.get(name, ()):
            if begin <= start and start + length <= begin + len(part):
                return part[start - begin : start - begin + length]
        self.meter.check()
        found = self._target.get_range(name, start, length)
        self.meter.count(len(found))
        return found

    def hold_small(self, name: str, size: int, most: int = SMALL_OBJECT_BYTES) -> None:
        """Read an object of at most so many bytes whole: its parts are then in memory."""
        if size <= most:
            self.get(name)

    @contextmanager
    def holding(self, name: str, start: int, length: int) -> Iterator[None]:
        """Have a part of an object in memory during the block."""
        part = (start, self.get_range(name, start, length))
        parts = self._parts.setdefault(name, [])
        parts.append(part)
        try:
            yield
        finally:
            parts.remove(part)
