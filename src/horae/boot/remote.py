"""The API as commands use it: through the client, with the key of the chosen context.

An answer is kept twice: as the API gave it, for `--json`, and as a value of the client, for people.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Final, Generic, TypeVar

import msgspec

from horae.boot.contexts import ApiContext, chosen
from horae.boot.output import Exit, err, name_cells_down
from horae.boot.refusals import TRANSLATIONS, Refusal
from horae_client import AsyncClient, errors
from horae_client.models import ArchiveRead, Page
from horae_client.pages import after
from horae_client.retries import Retries
from horae_client.wire import Request

T = TypeVar("T")
PATIENCE: Final = Retries(tries=4, base=0.2, longest=2.0, patience=15.0)
"""How long a person waits for an API that does not answer."""
TIMEOUT_S: Final = 60.0
PAGE: Final = 200
"""Items that a command reads at once."""
UNREACHABLE: Final = "SCH_503_UNREACHABLE"
"""What is printed where no API answered; no API can answer it."""
STATUSES: Final = {
    404: Exit.NOT_FOUND,
    409: Exit.CONFLICT,
    410: Exit.NOT_FOUND,
    429: Exit.UNAVAILABLE,
    503: Exit.UNAVAILABLE,
}
"""Exit codes by the status of a refusal; any other refusal is `Exit.REFUSED`."""


class Reply(msgspec.Struct, Generic[T], frozen=True):
    """An answer: `facts` as the API gave it, `value` as the client reads it."""

    value: T
    facts: Any


class Remote:
    """An open connection to the API."""

    def __init__(self, client: AsyncClient, context: ApiContext) -> None:
        self.client, self.context = client, context

    async def ask(self, request: Request[T]) -> Reply[T]:
        """Send one request. A refusal is raised as an error of the client."""
        if request.reads is type(None):
            return Reply(await self.client.ask(request), None)
        facts = await self.client.ask(_plain(request))
        return Reply(_value(facts, request.reads), facts)

    async def items(self, request: Request[Page[T]], limit: int | None = None) -> Reply[list[T]]:
        """All items of a list, or the first `limit` of them, over as many pages as needed."""
        found: list[Any] = []
        down: set[str] = set()
        reads: list[ArchiveRead] = []
        size = PAGE if limit is None else min(limit, PAGE)
        following: Request[Page[T]] | None = after(request, None, size)
        while following is not None and (limit is None or len(found) < limit):
            page = await self.client.ask(_plain(following))
            found += page["items"]
            down.update(page.get("cells_down", ()))
            reads += [msgspec.convert(page["archive"], ArchiveRead)] if page.get("archive") else []
            cursor = page.get("next")
            following = None if cursor is None else after(request, cursor, size)
        name_cells_down(down)
        name_archive_reads(reads)
        facts = found[:limit]
        whole: Page[T] = _value({"items": facts}, request.reads)
        return Reply(whole.items, facts)


@asynccontextmanager
async def remote() -> AsyncIterator[Remote]:
    """The API of the chosen context, during the block."""
    async with speak(chosen()) as api:
        yield api


@asynccontextmanager
async def speak(context: ApiContext) -> AsyncIterator[Remote]:
    """The API of a context, during the block."""
    async with AsyncClient(context.url, context.key, timeout=TIMEOUT_S, retries=PATIENCE) as client:
        try:
            yield Remote(client, context)
        except errors.Unreachable as error:
            advice = f"no API answers at {context.url} ({context.name}); is it running, and is the address right?"
            raise errors.Unreachable(f"{advice} ({error})") from error


def name_archive_reads(reads: Sequence[ArchiveRead]) -> None:
    """Print on stderr what was read from the archive."""
    if reads:
        requests, size, seconds = (
            sum(getattr(one, name) for one in reads) for name in ("requests", "bytes", "seconds")
        )
        err.print(f"also from the archive: {requests:,} requests, {size:,} bytes, {seconds:.2f} s", style="dim")


def refusal_of(error: Exception) -> Refusal | None:
    """The refusal of an error of the client; None for any other error."""
    match error:
        case errors.Refused():
            return Refusal(error.code, _text(error), STATUSES.get(error.status, Exit.REFUSED))
        case errors.Unreachable() | errors.Unreadable():
            return Refusal(UNREACHABLE, str(error), Exit.UNAVAILABLE)
        case _:
            return None


TRANSLATIONS.append(refusal_of)


def _plain(request: Request[Any]) -> Request[Any]:
    """The same request; its answer is read as plain values."""
    return replace(request, reads=Any)


def _text(error: errors.Refused) -> str:
    """The sentence of a refusal, and the place of each invalid field."""
    places = [f"{'.'.join(map(str, one.get('at', ())))}: {one.get('message', '')}" for one in error.errors]
    unsaid = [place for place in places if place not in error.detail]
    return "; ".join([error.detail, *unsaid])


def _value(facts: Any, type_: Any) -> Any:
    """The facts as a value of the client. An answer without a body has no facts."""
    try:
        return msgspec.convert(facts, type_)
    except msgspec.ValidationError as error:
        raise errors.Unreadable(f"an answer that this client does not understand: {error}") from error
