r"""Columns of a batch as PostgreSQL's own array literals.

The driver looks at every element of a list several times before it writes it; a literal is one string, written in C.
It is bound as a parameter like any other and read by the server: `$1::text::uuid[]`. A JSON list differs from an
array's literal by its brackets only, as long as no text in it needs an escape other than `\"` and `\\`.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

_encode = msgspec.json.Encoder().encode


def plain(values: Sequence[Any]) -> str:
    """Numbers, booleans, uuids and aware times; None is null."""
    return "{" + _encode(values).decode()[1:-1] + "}"


def texts(values: Sequence[str]) -> str:
    """Any texts: nothing in one of them ends or splits it."""
    if not values:
        return "{}"
    joined = '","'.join(values)
    if "\\" in joined or joined.count('"') != 2 * (len(values) - 1):
        joined = '","'.join([value.replace("\\", "\\\\").replace('"', '\\"') for value in values])
    return '{"' + joined + '"}'


def documents(values: Sequence[Any]) -> str:
    """What becomes jsonb; None is SQL's null, as it is for a single parameter. Their JSON has no control characters."""
    return plain([None if value is None else _encode(value).decode() for value in values])
