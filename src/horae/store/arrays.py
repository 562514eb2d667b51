r"""The columns of a batch as PostgreSQL array literals.

The driver inspects every element of a list several times before it writes it. A literal is one string that is encoded
in C, bound like any other parameter and parsed by the server: `:ids::text::uuid[]`. A JSON list differs from an array
literal only in its brackets, as long as no text in it needs an escape other than `\"` and `\\`.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

_encode = msgspec.json.Encoder().encode


def plain(values: Sequence[Any]) -> str:
    """An array of numbers, booleans, uuids and aware times. None becomes null."""
    return "{" + _encode(values).decode()[1:-1] + "}"


def texts(values: Sequence[str | None]) -> str:
    """An array of any texts. Quotes and backslashes inside a text are escaped. None becomes null."""
    if not values:
        return "{}"
    given = [value for value in values if value is not None]
    joined = '","'.join(given)
    if len(given) < len(values) or "\\" in joined or joined.count('"') != 2 * (len(values) - 1):
        return "{" + ",".join(map(_quoted, values)) + "}"
    return '{"' + joined + '"}'


def documents(values: Sequence[Any]) -> str:
    """An array of values that become jsonb. None becomes SQL null, as for a single parameter.

    JSON text contains no control characters, so it needs no other escape.
    """
    return plain([None if value is None else _encode(value).decode() for value in values])


def _quoted(value: str | None) -> str:
    return "null" if value is None else '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
