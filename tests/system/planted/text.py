"""Statements with other words in them, as if their files had been written so."""

import sys
from collections.abc import Callable
from typing import Any

from horae.store import statements


def rewrite(put: Callable[[Any, str, Any], None], changes: dict[str, tuple[str, str]]) -> None:
    """Give every user of a statement another text: `name -> (what it says, what it shall say)`."""
    written = statements.sql
    texts = {name: _changed(written(name), *change) for name, change in changes.items()}

    def sql(name: str) -> str:
        return texts.get(name) or written(name)

    for name, module in list(sys.modules.items()):
        if name.startswith("horae.store") and getattr(module, "sql", None) is written:
            put(module, "sql", sql)


def _changed(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1, f"the place for the bug is gone: {old!r}"
    return text.replace(old, new)
