"""`--follow`: prints new items of a list as they come, one line each, until the command is interrupted."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Annotated, Any, Final, TypeVar

import typer

from horae.boot.output import out, to_json, wants_json
from horae.boot.remote import Remote, Reply
from horae_client.models import Page
from horae_client.wire import Request

T = TypeVar("T")
LOOK_INTERVAL_S: Final = 2.0
NEWEST: Final = 100
"""Items that one look reads; more than these between two looks are not printed."""
Follow = Annotated[bool, typer.Option("--follow", "-f", help="Print what is new as it comes, until interrupted.")]


async def new_items(
    api: Remote, request: Request[Page[T]], identity: Callable[[Any], object], pause: float = LOOK_INTERVAL_S
) -> AsyncIterator[Reply[list[T]]]:
    """What was added to a list since the look before, oldest first. `identity` tells two items apart by their facts."""
    known: set[object] = set()
    while True:
        page = await api.items(request, NEWEST)
        fresh = [
            one for one in zip(page.value, page.facts, strict=True) if known is None or identity(one[1]) not in known
        ]
        known = {identity(facts) for facts in page.facts} | (known or set())
        yield Reply([value for value, _ in reversed(fresh)], [facts for _, facts in reversed(fresh)])
        await asyncio.sleep(pause)


async def print_new(
    api: Remote,
    request: Request[Page[T]],
    identity: Callable[[Any], object],
    cells: Callable[[T], Iterable[object]],
) -> None:
    """Print the newest items of a list, and then every new one. With `--json` each is a line of JSON."""
    async for found in new_items(api, request, identity):
        for value, facts in zip(found.value, found.facts, strict=True):
            if wants_json():
                out.file.write(f"{to_json(facts)}\n")
                out.file.flush()
            else:
                out.print("  ".join(str(cell) for cell in cells(value) if cell), highlight=False, soft_wrap=True)
