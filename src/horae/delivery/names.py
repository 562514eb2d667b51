"""From a name to the addresses we may connect to: looked up once, remembered for a few seconds.

Everything that is connected to passes through one `Resolve`, literal addresses too, and all it says is judged.

The system's resolver holds a thread until a name server answers or is given up, and nobody can end that. So names are
looked up in places: a few of one tenant at once, many of all. A tenant whose name servers are dead fills its own places
and no other's. A lookup that failed is remembered too, longer where it took long.
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

REMEMBERED_S: Final = 5.0
SLOW_S: Final = 2.0
"""Seconds from which on a lookup that failed counts as slow."""
SLOW_REMEMBERED_S: Final = 30.0
"""Seconds for which a slow failure is remembered: each costs a thread for long."""
MAX_NAMES: Final = 4096
LOOKUPS: Final = 64
LOOKUPS_OF_ONE: Final = 4
"""Lookups of one tenant at the same time."""
THREADS: Final = ThreadPoolExecutor(LOOKUPS + 32, thread_name_prefix="names")
"""Threads for nothing else: a name server that hangs keeps no one waiting but those who ask for names."""
RESOLVER_OPTIONS: Final = "timeout:1 attempts:2"
"""What the C library is told where the deployment says nothing: 10 to 30 seconds for a dead server are too long."""

Resolve = Callable[[str, int], Awaitable[list[str]]]
"""The addresses of a host, best first. Raises `OSError` if there are none, `NotAllowed` if we may not go there."""


class NotAllowed(Exception):
    """We do not connect to this host, whatever it is called."""


def shorten_lookups() -> None:
    """Let the system's resolver give up soon, unless the deployment's own `RES_OPTIONS` say otherwise."""
    os.environ.setdefault("RES_OPTIONS", RESOLVER_OPTIONS)


async def lookup(host: str, port: int) -> list[str]:
    """All addresses of a host as the system knows them. A literal address is its own, and asks no thread."""
    if _is_address(host):
        return [str(ip_address(host))]
    look = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    found = await asyncio.get_running_loop().run_in_executor(THREADS, look)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class _Known(NamedTuple):
    """What was found out about a name: addresses, or why there are none."""

    until: float
    addresses: list[str]
    failure: str | None = None

    def told(self) -> list[str]:
        if self.failure is not None:
            raise OSError(self.failure)
        return self.addresses


class _Lookup:
    """A lookup for one owner. `begun`: it has a place, and waits for nothing but the name server."""

    def __init__(self) -> None:
        self.begun = False
        self.task: asyncio.Task[list[str]]


Name = tuple[str, int]


class Names:
    """Remembers what `resolve` said. Many of one owner who ask for one name at once cost one look."""

    def __init__(self, resolve: Resolve) -> None:
        self._resolve = resolve
        self._known: dict[Name, _Known] = {}
        self._lookups: dict[tuple[Hashable, Name], _Lookup] = {}
        self._places = SharedPlaces(LOOKUPS, LOOKUPS_OF_ONE)

    async def addresses(self, host: str, port: int, owner: Hashable = None) -> list[str]:
        """Where to connect to; raises what `Resolve` raises."""
        name = (host, port)
        known = self._remembered(name)
        if known is not None:
            return known.told()
        asked = self._lookups.get((owner, name))
        if asked is None:
            asked = self._lookups[owner, name] = _Lookup()
            asked.task = asyncio.get_running_loop().create_task(self._ask(owner, name, asked))
            asked.task.add_done_callback(partial(self._hear, owner, name))
        return await asyncio.shield(asked.task)

    def starved(self, host: str, port: int, owner: Hashable = None) -> bool:
        """Whether a lookup of this owner still waits for a place: whoever gave up on it learnt nothing of the name."""
        asked = self._lookups.get((owner, (host, port)))
        return asked is not None and not asked.begun

    def close(self) -> None:
        """Nobody asks any more."""
        for asked in list(self._lookups.values()):
            asked.task.cancel()

    def _remembered(self, name: Name) -> _Known | None:
        known = self._known.get(name)
        return known if known is not None and known.until > asyncio.get_running_loop().time() else None

    async def _ask(self, owner: Hashable, name: Name, asked: _Lookup) -> list[str]:
        if _is_address(name[0]):
            return await self._look(name)
        async with self._places.of(owner):
            asked.begun = True
            known = self._remembered(name)  # another owner's lookup may have ended meanwhile
            return await self._look(name) if known is None else known.told()

    async def _look(self, name: Name) -> list[str]:
        now = asyncio.get_running_loop().time
        began = now()
        try:
            addresses = await self._resolve(*name)
            if not addresses:
                raise OSError(f"{name[0]} has no address")
        except (OSError, ValueError) as error:
            slow = now() - began >= SLOW_S
            self._remember(name, _Known(now() + (SLOW_REMEMBERED_S if slow else REMEMBERED_S), [], str(error)))
            raise
        self._remember(name, _Known(now() + REMEMBERED_S, addresses))
        return addresses

    def _hear(self, owner: Hashable, name: Name, task: "asyncio.Task[list[str]]") -> None:
        """It is over; perhaps nobody waits any more for what it raises."""
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
