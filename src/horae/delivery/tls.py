"""Who we trust and who we are: one TLS context per identity, made once, and beside the loop.

A context reads a whole store of authorities, or a chain with its key: tens of milliseconds in which the loop would
stand still. So it is made in a thread, one at a time for one tenant.
"""

import asyncio
import os
import ssl
from collections import OrderedDict
from collections.abc import Hashable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final, NamedTuple

from horae.runtime.sharing import SharedPlaces

MAX_CONTEXTS: Final = 256
AT_ONCE: Final = 2
THREADS: Final = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="tls")


class Identity(NamedTuple):
    """A client certificate with its key, and the authority that must have signed the server's; all as PEM text."""

    certificate: str | None = None
    authority: str | None = None

    def __repr__(self) -> str:
        return "Identity(…)"  # it holds a private key


class Contexts:
    """The contexts of one client; those that were not used for long make room for others."""

    def __init__(self) -> None:
        self._known: OrderedDict[Identity | None, ssl.SSLContext] = OrderedDict()
        self._making: dict[Identity | None, asyncio.Task[ssl.SSLContext]] = {}
        self._places = SharedPlaces(AT_ONCE, 1)

    async def of(self, identity: Identity | None, owner: Hashable = None) -> ssl.SSLContext:
        """The context of an identity; raises `ssl.SSLError` where its PEM text cannot be used."""
        known = self._known.get(identity)
        if known is not None:
            self._known.move_to_end(identity)
            return known
        making = self._making.get(identity)
        if making is None:
            making = self._making[identity] = asyncio.create_task(self._make(identity, owner if identity else None))
            making.add_done_callback(partial(self._hear, identity))
        return await asyncio.shield(making)

    def close(self) -> None:
        """Nobody asks any more."""
        for making in list(self._making.values()):
            making.cancel()

    async def _make(self, identity: Identity | None, owner: Hashable) -> ssl.SSLContext:
        async with self._places.of(owner):
            made = await asyncio.get_running_loop().run_in_executor(THREADS, context, identity)
        self._known[identity] = made
        if len(self._known) > MAX_CONTEXTS:
            self._known.popitem(last=False)
        return made

    def _hear(self, identity: Identity | None, made: "asyncio.Task[ssl.SSLContext]") -> None:
        """It is over; perhaps nobody waits any more for what it raises."""
        del self._making[identity]
        if not made.cancelled():
            made.exception()


def context(identity: Identity | None) -> ssl.SSLContext:
    """A context that verifies name and chain: against the system's store, or against the given authority alone.

    Raises `ssl.SSLError` where the PEM text cannot be used.
    """
    made = ssl.create_default_context(cadata=identity.authority if identity else None)
    made.set_alpn_protocols(["http/1.1"])
    if identity and identity.certificate:
        _load(made, identity.certificate)
    return made


def _load(made: ssl.SSLContext, pem: str) -> None:
    """Show a certificate. The library reads keys from files only; this file never touches a disk."""
    file = os.memfd_create("identity", os.MFD_CLOEXEC)
    try:
        os.write(file, pem.encode())
        made.load_cert_chain(f"/proc/self/fd/{file}", password=_no_password)
    finally:
        os.close(file)


def _no_password() -> str:
    """A key that needs one cannot be used. Without an answer the library would ask for it at our standard input."""
    raise ssl.SSLError("the private key is encrypted")
