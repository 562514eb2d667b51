"""Reading a request as strictly as we mean it. One reader for every route.

JSON has corners that two readers understand differently: NaN, keys that appear twice, numbers nobody can hold, half a
surrogate pair, NUL. Each of them is refused.
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

LARGEST_BODY: Final = 256 * 1024
DEEPEST: Final = 32
SMALLEST_INT, LARGEST_INT = -(2**63), 2**63 - 1
LONGEST_INT: Final = 20
STRING: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
"""A string, or the rest of the body where it never ends: a match that fails would begin again at each quote in it."""
BENT_NUMBER: Final = re.compile(rb"[0-9](?:[.eE]|[0-9]{18})")
"""A number that may be written longer or shorter than it was read: a float, or more digits than 64 bits surely hold."""
BLANKS: Final = b" \t\r\n"
NO_BRACKET: Final = bytes(byte for byte in range(256) if byte not in b"{}[]")
LEVELS: Final = {ord("{"): 1, ord("["): 1, ord("}"): -1, ord("]"): -1}
UNWRITABLE: Final = re.compile("[\0\ud800-\udfff]")


class StrictRequest(Request):
    """A request whose body has been read."""

    def __init__(self, scope: Scope, receive: Receive, raw: bytes, value: Any) -> None:
        super().__init__(scope, receive)
        self._read = raw, value

    async def body(self) -> bytes:
        """The bytes as they came."""
        return self._read[0]

    async def json(self) -> Any:
        """What they say."""
        return self._read[1]


async def strict(request: Request, max_bytes: int = LARGEST_BODY) -> StrictRequest:
    """The same request with its JSON body read, or a refusal."""
    raw = await read_json(request, max_bytes)
    return StrictRequest(request.scope, request.receive, raw, loads(raw) if raw else None)


async def read_json(request: Request, max_bytes: int = LARGEST_BODY) -> bytes:
    """The body, where it is said to be JSON."""
    raw = await read(request, max_bytes)
    if raw and not _is_json(request.headers.get("content-type", "")):
        raise UnsupportedMedia("a body is application/json in UTF-8")
    return raw


async def read(request: Request, max_bytes: int = LARGEST_BODY) -> bytes:
    """The body, up to as many bytes as a request may have."""
    if request.headers.get("content-encoding", "identity") != "identity":
        raise UnsupportedMedia("a body is sent as it is, without a Content-Encoding")
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
    """A JSON value that means one thing only."""
    outside = _outside(raw)
    if raw.count(b"{") + raw.count(b"[") > DEEPEST and _deep(outside):
        raise BadRequest(f"JSON may be nested {DEEPEST} levels deep")
    value = _tidy(raw, outside)
    return _loads(raw) if value is msgspec.UNSET else value


def read_as(raw: bytes, decode: Callable[[bytes], Any]) -> Any:
    """The value of a kind that holds texts, integers and lists of such only, none of them optional; UNSET for others.

    Of such a kind nothing is written longer than it was read, so that one deviation cannot make up for another.
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
    """The value, where it is plain that every reader would see the same; UNSET where it has to be read closely.

    1. Texts without escapes and integers of up to 18 digits are written as they were read, or shorter.
    2. A key that stands there twice is written once, which is shorter.
    3. So a value that is as long as the body without its blanks has no key twice: nothing makes up for the difference.
    """
    if b"\\" in raw or BENT_NUMBER.search(outside):
        return msgspec.UNSET
    try:
        value = _decode(raw)
        return value if len(_encode(value)) == len(raw) - _blanks(outside) else msgspec.UNSET
    except (msgspec.MsgspecError, ValueError, RecursionError, OverflowError):
        return msgspec.UNSET


def _loads(raw: bytes) -> Any:
    """The close reader: it says what is wrong."""
    try:
        value = _decoder.decode(raw.decode())
    except RecursionError as error:
        raise BadRequest(f"JSON may be nested {DEEPEST} levels deep") from error
    except UnicodeDecodeError as error:
        raise BadRequest("the body is not UTF-8") from error
    except json.JSONDecodeError as error:
        raise BadRequest(f"the body is not JSON: {error.msg} at character {error.pos}") from error
    if b"\\u" in raw:  # the only way to write what UTF-8 cannot
        _check_texts(value)
    return value


def _blanks(outside: bytes) -> int:
    return len(outside) - len(outside.translate(None, delete=BLANKS))


def _outside(raw: bytes) -> bytes:
    """What stands outside of strings."""
    return STRING.sub(b'""', raw) if b"\\" in raw else b"".join(raw.split(b'"')[::2])


def _deep(outside: bytes) -> bool:
    """Whether more brackets are open at one place than there may be levels."""
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
        raise BadRequest("a text may hold neither NUL nor half a surrogate pair")


def _is_json(content_type: str) -> bool:
    kind, _, parameters = content_type.partition(";")
    charset = parameters.strip().lower().removeprefix("charset=").strip('"')
    return kind.strip().lower() == "application/json" and charset in {"", "utf-8"}


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise BadRequest("a key appears twice in one object")
    return found


def _int(text: str) -> int:
    if len(text) <= LONGEST_INT and SMALLEST_INT <= (value := int(text)) <= LARGEST_INT:
        return value
    raise BadRequest("an integer has at most 64 bits")


def _float(text: str) -> float:
    if math.isfinite(value := float(text)):
        return value
    raise BadRequest("a number is too large")


def _constant(text: str) -> NoReturn:
    raise BadRequest(f"{text} is not JSON")


_decoder = json.JSONDecoder(object_pairs_hook=_pairs, parse_int=_int, parse_float=_float, parse_constant=_constant)
_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode
