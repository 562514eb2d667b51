"""Reads bytes and texts of other systems: answers, tokens, pages, messages, keys. Every failure is `Unreadable`.

A decoder fails in many ways: the body is no JSON, JSON of another shape, no UTF-8, nested deeper than the interpreter's
stack, or names a number or a date that no clock has. A caller handles one error. `tests/house/test_foreign_bytes.py`
keeps every other module from decoding such input by itself.
"""

import json
import math
import re
from base64 import b64decode, urlsafe_b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final, NoReturn, TypeVar, overload

import msgspec

Kind = TypeVar("Kind")
FAILURES: Final[tuple[type[Exception], ...]] = (
    *(msgspec.MsgspecError, ValueError, OverflowError, RecursionError),
    *(TypeError, LookupError, AttributeError, ArithmeticError),
)
UNKNOWN_CHARACTER: Final = "\N{REPLACEMENT CHARACTER}"
UNWRITABLE: Final = re.compile("[\0\ud800-\udfff]")
MAX_INT_CHARACTERS: Final = 20


class Unreadable(ValueError):
    """The input is not what was expected. The text says why, contains no byte of the input, and fits into a row."""


def printable(text: str) -> str:
    """Return a text for a terminal: characters that control the terminal are replaced."""
    kept = text.replace("\r\n", "\n")
    return "".join([c if c.isprintable() or c in "\n\t" else UNKNOWN_CHARACTER for c in kept])


@contextmanager
def reading_foreign(*failures: type[Exception]) -> Iterator[None]:
    """Turn every failure inside the block into `Unreadable`, also the given exceptions of a library."""
    try:
        yield
    except Unreadable:
        raise
    except (*FAILURES, *failures) as error:
        raise Unreadable(_reason(error)) from error


@overload
def read_json(body: bytes) -> Any: ...
@overload
def read_json(body: bytes, kind: type[Kind], *, strict: bool = True) -> Kind: ...
def read_json(body: bytes, kind: Any = Any, *, strict: bool = True) -> Any:
    """Decode JSON as a value of a type."""
    try:
        return msgspec.json.decode(body, type=kind, strict=strict)
    except FAILURES as error:
        raise Unreadable(_reason(error)) from error


def read_unambiguous_json(body: bytes) -> Any:
    """Decode JSON that every parser reads alike and that a row can hold.

    No name appears twice in one object. Numbers are finite, integers have at most 64 bits. No text holds NUL or half a
    surrogate pair.
    """
    with reading_foreign():
        value = _UNAMBIGUOUS.decode(body.decode())
        if b"\\u" in body:  # JSON can contain such a character only as an escape
            _check_texts(value)
        return value


def read_as(value: object, kind: type[Kind]) -> Kind:
    """Convert a decoded value to a type."""
    try:
        return msgspec.convert(value, kind)
    except FAILURES as error:
        raise Unreadable(_reason(error)) from error


def read_base64(text: str) -> bytes:
    """Return the bytes of a text in base64."""
    with reading_foreign():
        return b64decode(text, validate=True)


def read_base64url(text: str) -> bytes:
    """Return the bytes of a text in base64url without padding."""
    with reading_foreign():
        return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def read_http_date(text: str | None) -> datetime | None:
    """Return a time in the format of HTTP; None for a text that is none, or a date that does not exist."""
    try:
        found = None if text is None else parsedate_to_datetime(text)
    except FAILURES:
        return None
    return None if found is None else found.replace(tzinfo=found.tzinfo or UTC)


def read_utf8(body: bytes) -> str:
    """Return text that must be UTF-8."""
    with reading_foreign():
        return body.decode()


def read_text(body: bytes) -> str:
    """Return text that a row can hold; bytes that are no text are replaced."""
    return body.decode("utf-8", "replace").replace("\0", UNKNOWN_CHARACTER)


def fit_for_row(text: str, most: int) -> str:
    """Return the beginning of a text, without characters that a row cannot hold."""
    return read_text(text[:most].encode("utf-8", "replace"))


def _unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Unreadable("a name appears twice")
    return found


def _refuse_constant(text: str) -> NoReturn:
    raise Unreadable(f"{text} is not JSON")


def _read_int(text: str) -> int:
    if len(text) > MAX_INT_CHARACTERS or not -(2**63) <= (value := int(text)) < 2**63:
        raise Unreadable("an integer has more than 64 bits")
    return value


def _read_float(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise Unreadable("a number is too large")
    return value


def _check_texts(value: Any) -> None:
    match value:
        case str():
            if UNWRITABLE.search(value):
                raise Unreadable("a text holds NUL or half a surrogate pair")
        case list():
            for item in value:
                _check_texts(item)
        case dict():
            for name, item in value.items():
                _check_texts(name)
                _check_texts(item)
        case _:
            pass


_UNAMBIGUOUS: Final = json.JSONDecoder(
    object_pairs_hook=_unique_names, parse_constant=_refuse_constant, parse_int=_read_int, parse_float=_read_float
)


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, msgspec.MsgspecError) else f"{type(error).__name__} while it was read"
