"""What strangers send is read here: however it fails, it is one error.

A decoder has many ways to fail: what is no JSON, JSON of another shape, text that is no UTF-8, brackets in brackets up
to the interpreter's last frame, numbers that no clock or calendar has. Whoever waits for the answer needs to know of
one.
"""

from typing import Any, TypeVar, overload

import msgspec

Kind = TypeVar("Kind")
FAILURES: tuple[type[Exception], ...] = (msgspec.MsgspecError, ValueError, OverflowError, RecursionError)


class Unreadable(ValueError):
    """Not what was asked for; its text says why, and is fit for a row."""


@overload
def read_json(body: bytes) -> Any: ...
@overload
def read_json(body: bytes, kind: type[Kind], *, strict: bool = True) -> Kind: ...
def read_json(body: bytes, kind: Any = Any, *, strict: bool = True) -> Any:
    """JSON as a value of a kind."""
    try:
        return msgspec.json.decode(body, type=kind, strict=strict)
    except FAILURES as error:
        raise Unreadable(_reason(error)) from error


def read_as(value: object, kind: type[Kind]) -> Kind:
    """A part of what was read as a value of a kind."""
    try:
        return msgspec.convert(value, kind)
    except FAILURES as error:
        raise Unreadable(_reason(error)) from error


def _reason(error: Exception) -> str:
    """What went wrong, in a few words and without a byte of what was sent."""
    return str(error) if isinstance(error, msgspec.MsgspecError) else f"{type(error).__name__} while it was read"
