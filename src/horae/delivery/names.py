"""From a name to the addresses we may connect to: looked up once, remembered for a few seconds.

Everything that is connected to passes through one `Resolve`, literal addresses too, and all it says is judged.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from ipaddress import ip_address
from typing import Final, NamedTuple

REMEMBERED: Final = 5.0
MOST_NAMES: Final = 4096
ASKING: Final = ThreadPoolExecutor(32, thread_name_prefix="names")
"""Threads for nothing else: a name server that hangs keeps no one waiting but those who ask for names."""

Resolve = Callable[[str, int], Awaitable[list[str]]]
"""The addresses of a host, best first. Raises `OSError` if there are none, `NotAllowed` if we may not go there."""


class NotAllowed(Exception):
    """We do not connect to this host, whatever it is called."""


async def lookup(host: str, port: int) -> list[str]:
    """All addresses of a host as the system knows them. A literal address is its own, and asks no thread."""
    try:
        return [str(ip_address(host))]
    except ValueError:
        look = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
        found = await asyncio.get_running_loop().run_in_executor(ASKING, look)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class _Known(NamedTuple):
    until: float
    addresses: list[str]


class Names:
    """Remembers what `resolve` said. Many who ask for one name at once cost one look."""

    def __init__(self, resolve: Resolve) -> None:
        self._resolve = resolve
        self._known: dict[tuple[str, int], _Known] = {}
        self._asking: dict[tuple[str, int], asyncio.Task[list[str]]] = {}

    async def addresses(self, host: str, port: int) -> list[str]:
        """Where to connect to; raises what `Resolve` raises."""
        loop, key = asyncio.get_running_loop(), (host, port)
        known = self._known.get(key)
        if known is not None and known.until > loop.time():
            return known.addresses
        asking = self._asking.get(key)
        if asking is None:
            asking = self._asking[key] = loop.create_task(self._ask(key))
            asking.add_done_callback(lambda done: done.cancelled() or done.exception())  # perhaps nobody waits any more
        return await asyncio.shield(asking)

    async def _ask(self, key: tuple[str, int]) -> list[str]:
        try:
            addresses = await self._resolve(*key)
        finally:
            del self._asking[key]
        if not addresses:
            raise OSError(f"{key[0]} has no address")
        if len(self._known) >= MOST_NAMES:
            self._known.clear()
        self._known[key] = _Known(asyncio.get_running_loop().time() + REMEMBERED, addresses)
        return addresses

    def close(self) -> None:
        """Nobody asks any more."""
        for asking in list(self._asking.values()):
            asking.cancel()
