"""The strict JSON reader of all routes.

Two JSON parsers may read some inputs differently: NaN, duplicate keys, numbers that are too large, half a surrogate
pair, NUL. The reader refuses each of them.
"""

import json
import math
import re
from collections.abc import Callable
from itertools import accumulate
from typing import Any, Final, NoReturn

import msgspec
from starlette.requests import Request
from starlette.types import Receive, Scope

from horae.domain.errors import BadRequest, TooLarge, UnsupportedMedia

MAX_BODY_BYTES: Final = 256 * 1024
DEEPEST: Final = 32
SMALLEST_INT: Final = -(2**63)
LARGEST_INT: Final = 2**63 - 1
LONGEST_INT: Final = 20
STRING: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
"""A string, or the rest of the body if the string never ends: a failed match would start again at each quote."""
BENT_NUMBER: Final = re.compile(rb"[0-9](?:[.eE]|[0-9]{18})")
"""A number whose encoded length may differ from the input: a float, or more digits than 64 bits always hold."""
BLANKS: Final = b" \t\r\n"
NO_BRACKET: Final = bytes(byte for byte in range(256) if byte not in b"{}[]")
LEVELS: Final = {ord("{"): 1, ord("["): 1, ord("}"): -1, ord("]"): -1}
UNWRITABLE: Final = re.compile("[\0\ud800-\udfff]")


class StrictRequest(Request):
    """A request with a body that has been read."""

    def __init__(self, scope: Scope, receive: Receive, raw: bytes, value: Any) -> None:
        super().__init__(scope, receive)
        self._read = raw, value

    async def body(self) -> bytes:
        """Returns the bytes of the body."""
        return self._read[0]

    async def json(self) -> Any:
        """Returns the value of the body."""
        return self._read[1]


async def strict(request: Request, max_bytes: int = MAX_BODY_BYTES) -> StrictRequest:
    """Returns the request with its JSON body read, or refuses it."""
    raw = await read_json(request, max_bytes)
    return StrictRequest(request.scope, request.receive, raw, loads(raw) if raw else None)


async def read_json(request: Request, max_bytes: int = MAX_BODY_BYTES) -> bytes:
    """Returns the body of a request with a JSON content type."""
    raw = await read(request, max_bytes)
    if raw and not _is_json(request.headers.get("content-type", "")):
        raise UnsupportedMedia("send Content-Type: application/json, in UTF-8")
    return raw


async def read(request: Request, max_bytes: int = MAX_BODY_BYTES) -> bytes:
    """Returns the body, up to a maximum size."""
    if request.headers.get("content-encoding", "identity") != "identity":
        raise UnsupportedMedia("send the body without a Content-Encoding")
    said = request.headers.get("content-length", "0")
    if said.isdigit() and int(said) > max_bytes:
        raise TooLarge(f"a body has at most {max_bytes} bytes here")
    found = bytearray()
    async for chunk in request.stream():
        found += chunk
        if len(found) > max_bytes:
            raise TooLarge(f"a body has at most {max_bytes} bytes here")
    return bytes(found)


def loads(raw: bytes) -> Any:
    """Returns a JSON value that every parser reads the same way."""
    outside = _outside(raw)
    if raw.count(b"{") + raw.count(b"[") > DEEPEST and _deep(outside):
        raise BadRequest(f"JSON may be nested {DEEPEST} levels deep")
    value = _tidy(raw, outside)
    return _loads(raw) if value is msgspec.UNSET else value


def read_as(raw: bytes, decode: Callable[[bytes], Any]) -> Any:
    """Returns a value of a type with only required strings, integers and lists of these; UNSET if it does not fit.

    A value of such a type is never longer when encoded again, so two deviations cannot cancel out.
    """
    if b"\\" in raw:
        return msgspec.UNSET
    try:
        value = decode(raw)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return msgspec.UNSET
    longer = len(raw) - len(_encode(value))
    return value if not longer or longer == _blanks(_outside(raw)) else msgspec.UNSET


def _tidy(raw: bytes, outside: bytes) -> Any:
    """Returns the value if every parser reads it the same way; UNSET if the slow reader has to read it.

    1. Refuse escapes, floats and long integers here: only they can be longer when encoded again.
    2. Decode the body, and encode the value again.
    3. Strings without escapes and integers of up to 18 digits have the same length again.
    4. A duplicate key is encoded once, which is shorter.
    5. So a value that is as long as the body without its blanks has no duplicate key.
    """
    if b"\\" in raw or BENT_NUMBER.search(outside):
        return msgspec.UNSET
    try:
        value = _decode(raw)
        return value if len(_encode(value)) == len(raw) - _blanks(outside) else msgspec.UNSET
    except (msgspec.MsgspecError, ValueError, RecursionError, OverflowError):
        return msgspec.UNSET


def _loads(raw: bytes) -> Any:
    """Returns the value with the slow reader, which names the error."""
    try:
        value = _decoder.decode(raw.decode())
    except RecursionError as error:
        raise BadRequest(f"JSON may be nested {DEEPEST} levels deep") from error
    except UnicodeDecodeError as error:
        raise BadRequest("the body is not UTF-8") from error
    except json.JSONDecodeError as error:
        raise BadRequest(f"the body is not JSON: {error.msg} at character {error.pos}") from error
    if b"\\u" in raw:  # the only way to write what UTF-8 cannot encode
        _check_texts(value)
    return value


def _blanks(outside: bytes) -> int:
    return len(outside) - len(outside.translate(None, delete=BLANKS))


def _outside(raw: bytes) -> bytes:
    """Returns the bytes outside of strings."""
    return STRING.sub(b'""', raw) if b"\\" in raw else b"".join(raw.split(b'"')[::2])


def _deep(outside: bytes) -> bool:
    """Whether the body has more nested levels than allowed."""
    left = outside.translate(None, delete=NO_BRACKET)
    return max(accumulate(map(LEVELS.__getitem__, left)), default=0) > DEEPEST


def _check_texts(value: Any) -> None:
    match value:
        case str():
            _check_text(value)
        case list():
            for item in value:
                _check_texts(item)
        case dict():
            for key, item in value.items():
                _check_text(key)
                _check_texts(item)
        case _:
            pass


def _check_text(text: str) -> None:
    if UNWRITABLE.search(text):
        raise BadRequest("a string may contain neither NUL nor half a surrogate pair")


def _is_json(content_type: str) -> bool:
    kind, _, parameters = content_type.partition(";")
    charset = parameters.strip().lower().removeprefix("charset=").strip('"')
    return kind.strip().lower() == "application/json" and charset in {"", "utf-8"}


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise BadRequest("an object has a duplicate key")
    return found


def _int(text: str) -> int:
    if len(text) <= LONGEST_INT and SMALLEST_INT <= (value := int(text)) <= LARGEST_INT:
        return value
    raise BadRequest("an integer may have at most 64 bits")


def _float(text: str) -> float:
    if math.isfinite(value := float(text)):
        return value
    raise BadRequest("a number is too large")


def _constant(text: str) -> NoReturn:
    raise BadRequest(f"{text} is not JSON")


_decoder = json.JSONDecoder(object_pairs_hook=_pairs, parse_int=_int, parse_float=_float, parse_constant=_constant)
_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode
