"""A body of any length, line by line: one JSON value each, read as strictly as any other."""

from collections.abc import AsyncIterator
from typing import Any, Final

from starlette.requests import Request

from horae.api.reading import loads
from horae.domain.errors import BadRequest, HoraeError, Invalid, UnsupportedMedia

LONGEST_LINE: Final = 4096
KIND: Final = "application/x-ndjson"


async def keys_of(request: Request) -> AsyncIterator[str]:
    """The keys in a stream: texts, or objects with a `key`. A line that is neither is refused with its number."""
    number = 0
    async for line in _lines(request):
        number += 1
        if line.strip():
            yield _key(line, number)


async def _lines(request: Request) -> AsyncIterator[bytes]:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != KIND or request.headers.get("content-encoding", "identity") != "identity":
        raise UnsupportedMedia(f"a stream of subjects is {KIND}, sent as it is")
    rest = b""
    async for chunk in request.stream():
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield _bounded(line)
        _bounded(rest)
    yield rest


def _bounded(line: bytes) -> bytes:
    if len(line) > LONGEST_LINE:
        raise BadRequest(f"a line has at most {LONGEST_LINE} bytes")
    return line


def _key(line: bytes, number: int) -> str:
    try:
        value: Any = loads(line)
    except HoraeError as error:
        raise BadRequest(f"line {number}: {error}") from error
    key = value.get("key") if isinstance(value, dict) and set(value) == {"key"} else value
    if not isinstance(key, str):
        raise Invalid(f'line {number} is neither a key nor {{"key": …}}', line=number)
    return key
