"""Who we trust and who we are: one TLS context per identity, made once."""

import os
import ssl
from functools import lru_cache
from typing import Final, NamedTuple

MOST_CONTEXTS: Final = 256


class Identity(NamedTuple):
    """A client certificate with its key, and the authority that must have signed the server's; all as PEM text."""

    certificate: str | None = None
    authority: str | None = None

    def __repr__(self) -> str:
        return "Identity(…)"  # it holds a private key


@lru_cache(MOST_CONTEXTS)
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
