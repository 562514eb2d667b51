"""A body of any length with one JSON value per line, read as strictly as other bodies."""

from collections.abc import AsyncIterator
from typing import Any, Final

from starlette.requests import Request

from horae.api.reading import loads
from horae.domain.errors import BadRequest, HoraeError, Invalid, UnsupportedMedia

MAX_LINE_BYTES: Final = 4096
KIND: Final = "application/x-ndjson"


async def keys_of(request: Request) -> AsyncIterator[str]:
    """Yields the keys of a stream: strings, or objects with a `key`. Another line is refused with its number."""
    number = 0
    async for line in _lines(request):
        number += 1
        if line.strip():
            yield _key(line, number)


async def _lines(request: Request) -> AsyncIterator[bytes]:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != KIND or request.headers.get("content-encoding", "identity") != "identity":
        raise UnsupportedMedia(f"send Content-Type: {KIND}, without a Content-Encoding")
    rest = b""
    async for chunk in request.stream():
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield _bounded(line)
        _bounded(rest)
    yield rest


def _bounded(line: bytes) -> bytes:
    if len(line) > MAX_LINE_BYTES:
        raise BadRequest(f"a line has at most {MAX_LINE_BYTES} bytes")
    return line


def _key(line: bytes, number: int) -> str:
    try:
        value: Any = loads(line)
    except HoraeError as error:
        raise BadRequest(f"line {number}: {error}") from error
    key = value.get("key") if isinstance(value, dict) and set(value) == {"key"} else value
    if not isinstance(key, str):
        raise Invalid(f'line {number} must be a key or {{"key": …}}', line=number)
    return key
