"""Resolves host names to addresses, and remembers them for a few seconds.

Every address passes through one `Resolve`, also a literal one, so that egress rules see all of them.

1. The system's resolver blocks a thread until a name server answers or times out. That cannot be cancelled.
2. So lookups run in places: a few per tenant, many in total. A tenant with dead name servers fills its own places only.
3. A failed lookup is remembered too, and longer where it was slow.
"""

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from ipaddress import ip_address
from typing import Final, NamedTuple

from horae.runtime.sharing import SharedPlaces

ADDRESSES_REMEMBERED_S: Final = 5.0
"""How long addresses and quick failures are remembered."""
SLOW_LOOKUP_S: Final = 2.0
"""A lookup that fails after at least this time counts as slow."""
SLOW_FAILURE_REMEMBERED_S: Final = 30.0
"""How long a slow failure is remembered: each one blocks a thread for a long time."""
MAX_NAMES: Final = 4096
"""Names that are remembered; when there are more, all are forgotten."""
LOOKUPS: Final = 64
"""Lookups of all tenants at the same time."""
LOOKUPS_OF_ONE: Final = 4
"""Lookups of one tenant at the same time."""
THREADS: Final = ThreadPoolExecutor(LOOKUPS + 32, thread_name_prefix="names")
"""Threads for lookups only: a name server that hangs delays no other work."""
RESOLVER_OPTIONS: Final = "timeout:1 attempts:2"
"""The default for the C library: without it a dead name server costs 10 to 30 seconds."""

Resolve = Callable[[str, int], Awaitable[list[str]]]
"""Returns the addresses of a host, best first. Raises `OSError` if it has none, `EgressRefused` if it is forbidden."""


class EgressRefused(Exception):
    """Egress rules forbid a connection to this host."""


def shorten_lookups() -> None:
    """Let the system's resolver give up early, unless the deployment sets `RES_OPTIONS` itself."""
    os.environ.setdefault("RES_OPTIONS", RESOLVER_OPTIONS)


async def lookup(host: str, port: int) -> list[str]:
    """Return all addresses of a host from the system's resolver. A literal address needs no thread."""
    if _is_address(host):
        return [str(ip_address(host))]
    look = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    found = await asyncio.get_running_loop().run_in_executor(THREADS, look)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class _Known(NamedTuple):
    """What is remembered about a name: its addresses, or why it has none. `until` is in loop time."""

    until: float
    addresses: list[str]
    failure: str | None = None

    def addresses_or_raise(self) -> list[str]:
        """Return the addresses, or raise the remembered failure."""
        if self.failure is not None:
            raise OSError(self.failure)
        return self.addresses


class _Lookup:
    """One lookup for one owner. `begun`: it has its place and waits only for the name server."""

    def __init__(self) -> None:
        self.begun = False
        self.task: asyncio.Task[list[str]]


Name = tuple[str, int]


class Names:
    """Remembers the results of `resolve`. Concurrent requests of one owner for one name share one lookup."""

    def __init__(self, resolve: Resolve) -> None:
        self._resolve = resolve
        self._known: dict[Name, _Known] = {}
        self._lookups: dict[tuple[Hashable, Name], _Lookup] = {}
        self._places = SharedPlaces(LOOKUPS, LOOKUPS_OF_ONE)

    async def addresses(self, host: str, port: int, owner: Hashable = None) -> list[str]:
        """Return the addresses of a host; raises what `Resolve` raises."""
        name = (host, port)
        known = self._recall(name)
        if known is not None:
            return known.addresses_or_raise()
        asked = self._lookups.get((owner, name))
        if asked is None:
            asked = self._lookups[owner, name] = _Lookup()
            asked.task = asyncio.get_running_loop().create_task(self._ask(owner, name, asked))
            asked.task.add_done_callback(partial(self._end_lookup, owner, name))
        return await asyncio.shield(asked.task)

    def waits_for_place(self, host: str, port: int, owner: Hashable = None) -> bool:
        """Whether a lookup of this owner still waits for a place: a timeout then says nothing about the name."""
        asked = self._lookups.get((owner, (host, port)))
        return asked is not None and not asked.begun

    def close(self) -> None:
        """Cancel all lookups."""
        for asked in list(self._lookups.values()):
            asked.task.cancel()

    def _recall(self, name: Name) -> _Known | None:
        known = self._known.get(name)
        return known if known is not None and known.until > asyncio.get_running_loop().time() else None

    async def _ask(self, owner: Hashable, name: Name, asked: _Lookup) -> list[str]:
        if _is_address(name[0]):
            return await self._look(name)
        async with self._places.of(owner):
            asked.begun = True
            known = self._recall(name)  # another owner's lookup may have ended meanwhile
            return await self._look(name) if known is None else known.addresses_or_raise()

    async def _look(self, name: Name) -> list[str]:
        now = asyncio.get_running_loop().time
        began = now()
        try:
            addresses = await self._resolve(*name)
            if not addresses:
                raise OSError(f"{name[0]} has no address")
        except (OSError, ValueError) as error:
            slow = now() - began >= SLOW_LOOKUP_S
            self._remember(
                name, _Known(now() + (SLOW_FAILURE_REMEMBERED_S if slow else ADDRESSES_REMEMBERED_S), [], str(error))
            )
            raise
        self._remember(name, _Known(now() + ADDRESSES_REMEMBERED_S, addresses))
        return addresses

    def _end_lookup(self, owner: Hashable, name: Name, task: "asyncio.Task[list[str]]") -> None:
        """Forget an ended lookup, and retrieve its exception: its callers may all have given up."""
        del self._lookups[owner, name]
        if not task.cancelled():
            task.exception()

    def _remember(self, name: Name, known: _Known) -> None:
        if len(self._known) >= MAX_NAMES:
            self._known.clear()
        self._known[name] = known


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
