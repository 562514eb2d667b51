"""The differences between two values, path by path, for a person who compares two versions of a job."""

from collections.abc import Iterator
from typing import Any

import msgspec


class FieldDifference(msgspec.Struct, frozen=True):
    """One difference. `before` is unset where the value was added, `after` where it was removed."""

    path: str
    before: Any = msgspec.UNSET
    after: Any = msgspec.UNSET

    @property
    def text(self) -> str:
        """The difference as one line of text."""
        if self.before is msgspec.UNSET:
            return f"+ {self.path}: {_format(self.after)}"
        if self.after is msgspec.UNSET:
            return f"- {self.path}: {_format(self.before)}"
        return f"~ {self.path}: {_format(self.before)} → {_format(self.after)}"


def differences(before: Any, after: Any) -> list[FieldDifference]:
    """Return every difference in the order of the paths; objects are compared key by key, lists as a whole."""
    return list(_walk("", before, after))


def _walk(path: str, before: Any, after: Any) -> Iterator[FieldDifference]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted({*before, *after}):
            inner = f"{path}.{key}" if path else str(key)
            yield from _walk(inner, before.get(key, msgspec.UNSET), after.get(key, msgspec.UNSET))
    elif before != after or type(before) is not type(after):
        yield FieldDifference(path, before, after)


def _format(value: Any) -> str:
    return msgspec.json.encode(value).decode()
