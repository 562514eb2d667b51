"""What differs between two values, path by path, for a person who compares two versions of a job."""

from collections.abc import Iterator
from typing import Any

import msgspec


class Difference(msgspec.Struct, frozen=True):
    """One place that differs. `before` is unset where it was added, `after` where it was taken away."""

    path: str
    before: Any = msgspec.UNSET
    after: Any = msgspec.UNSET

    @property
    def text(self) -> str:
        """One line to read."""
        if self.before is msgspec.UNSET:
            return f"+ {self.path}: {_said(self.after)}"
        if self.after is msgspec.UNSET:
            return f"- {self.path}: {_said(self.before)}"
        return f"~ {self.path}: {_said(self.before)} → {_said(self.after)}"


def differences(before: Any, after: Any) -> list[Difference]:
    """Every place that differs, in the order of the paths; objects are compared key by key, lists as a whole."""
    return list(_walk("", before, after))


def _walk(path: str, before: Any, after: Any) -> Iterator[Difference]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted({*before, *after}):
            inner = f"{path}.{key}" if path else str(key)
            yield from _walk(inner, before.get(key, msgspec.UNSET), after.get(key, msgspec.UNSET))
    elif before != after or type(before) is not type(after):
        yield Difference(path, before, after)


def _said(value: Any) -> str:
    return msgspec.json.encode(value).decode()
