"""TLS contexts: one per identity, created once and outside of the event loop.

Loading the system's authorities, or a certificate chain with its key, takes tens of milliseconds. So a context is
created in a thread, one at a time per tenant.
"""

import asyncio
import os
import ssl
from collections import OrderedDict
from collections.abc import Hashable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from tempfile import NamedTemporaryFile
from typing import Final, NamedTuple

from horae.runtime.sharing import SharedPlaces

MAX_CONTEXTS: Final = 256
"""Contexts that one client keeps."""
AT_ONCE: Final = 2
"""Contexts that are created at the same time."""
THREADS: Final = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="tls")


class Identity(NamedTuple):
    """A client certificate with its key, and the authority that must have signed the server's; both as PEM text."""

    certificate: str | None = None
    authority: str | None = None

    def __repr__(self) -> str:
        return "Identity(…)"  # it holds a private key


class Contexts:
    """The contexts of one client. The least recently used one is dropped first."""

    def __init__(self) -> None:
        self._known: OrderedDict[Identity | None, ssl.SSLContext] = OrderedDict()
        self._making: dict[Identity | None, asyncio.Task[ssl.SSLContext]] = {}
        self._places = SharedPlaces(AT_ONCE, 1)

    async def of(self, identity: Identity | None, owner: Hashable = None) -> ssl.SSLContext:
        """Return the context of an identity; raises `ssl.SSLError` where its PEM text cannot be used."""
        known = self._known.get(identity)
        if known is not None:
            self._known.move_to_end(identity)
            return known
        making = self._making.get(identity)
        if making is None:
            making = self._making[identity] = asyncio.create_task(self._make(identity, owner if identity else None))
            making.add_done_callback(partial(self._end_making, identity))
        return await asyncio.shield(making)

    def close(self) -> None:
        """Cancel the creation of contexts."""
        for making in list(self._making.values()):
            making.cancel()

    async def _make(self, identity: Identity | None, owner: Hashable) -> ssl.SSLContext:
        async with self._places.of(owner):
            made = await asyncio.get_running_loop().run_in_executor(THREADS, context, identity)
        self._known[identity] = made
        if len(self._known) > MAX_CONTEXTS:
            self._known.popitem(last=False)
        return made

    def _end_making(self, identity: Identity | None, made: "asyncio.Task[ssl.SSLContext]") -> None:
        """Forget an ended task, and retrieve its exception: its callers may all have given up."""
        del self._making[identity]
        if not made.cancelled():
            made.exception()


def context(identity: Identity | None) -> ssl.SSLContext:
    """Create a context that verifies name and chain, against the system's authorities or against the given one alone.

    Raises `ssl.SSLError` where the PEM text cannot be used.
    """
    made = ssl.create_default_context(cadata=identity.authority if identity else None)
    made.set_alpn_protocols(["http/1.1"])
    if identity and identity.certificate:
        _load(made, identity.certificate)
    return made


def _load(made: ssl.SSLContext, pem: str) -> None:
    """Load a client certificate. The library reads keys from files only, so the PEM text becomes one for a moment."""
    with _in_memory(pem) if hasattr(os, "memfd_create") else _on_disk(pem) as path:
        made.load_cert_chain(path, password=_no_password)


@contextmanager
def _in_memory(pem: str) -> Iterator[str]:
    """A file that exists in memory only, on Linux."""
    file = os.memfd_create("identity", os.MFD_CLOEXEC)
    try:
        os.write(file, pem.encode())
        yield f"/proc/self/fd/{file}"
    finally:
        os.close(file)


@contextmanager
def _on_disk(pem: str) -> Iterator[str]:
    """A file that only its owner may read, deleted at the end of the block: for systems without files in memory."""
    with NamedTemporaryFile("w", prefix="horae-identity-", encoding="utf-8") as file:
        file.write(pem)
        file.flush()
        yield file.name


def _no_password() -> str:
    """Refuse an encrypted private key. Without this function the library would ask for a password on standard input."""
    raise ssl.SSLError("the private key is encrypted")
