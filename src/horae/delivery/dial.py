"""Opens a connection to an address that egress rules allow, with the host's name for TLS."""

import asyncio
import ssl
from collections.abc import Callable, Sequence
from typing import Final

from horae.delivery.connection import Connection
from horae.delivery.http import Failure, HttpRequest, Origin
from horae.delivery.names import EgressRefused, Names
from horae.delivery.tls import Contexts
from horae.domain.instances.outcomes import ErrorCode
from horae.domain.targets.egress import Egress

MOST_ADDRESSES: Final = 4
"""Addresses of one name that are tried."""
CONTEXT_TIMEOUT_S: Final = 10.0
"""How long a call waits for its TLS context."""

Make = Callable[[], Connection]


async def dial(
    request: HttpRequest, names: Names, contexts: Contexts, usual: Egress, make: Make
) -> Connection | Failure:
    """Open a connection within the connect timeout, or return why there is none. No byte of the request is sent.

    1. Check scheme and port against the egress rules, before the name is looked up.
    2. Get the TLS context. The connect timeout does not include this, because it is our work and not the target's.
    3. Look up the addresses and check every one of them.
    4. Try the addresses in turn.

    A failure for want of a place of ours (a TLS context, a name lookup) is not counted against the target.
    """
    origin = request.origin
    rules = usual if origin.egress is None else origin.egress
    where = f"{origin.host}:{origin.port}"
    try:
        _check(rules, origin, ())  # before the name is looked up
        trust = await _trust(request, contexts)
        if isinstance(trust, Failure):
            return trust
        async with asyncio.timeout(request.connect_timeout):
            addresses = await names.addresses(origin.host, origin.port, request.owner)
            _check(rules, origin, addresses)
            return await _first(origin, addresses[:MOST_ADDRESSES], trust, make, request.connect_timeout)
    except EgressRefused as error:
        return Failure(ErrorCode.REFUSED, str(error))
    except ssl.SSLError as error:
        return Failure(ErrorCode.TLS, f"no trust in {where}: {error}")
    except TimeoutError:
        if names.waits_for_place(origin.host, origin.port, request.owner):
            waited = f"{origin.host} was not looked up within {request.connect_timeout:g} s: too many other names are"
            return Failure(ErrorCode.CONNECT, waited, counted=False)
        return Failure(ErrorCode.CONNECT, f"no connection to {where} within {request.connect_timeout:g} s")
    except (OSError, ValueError) as error:  # an impossible host name raises ValueError
        return Failure(ErrorCode.CONNECT, f"no connection to {where}: {error}")


async def _trust(request: HttpRequest, contexts: Contexts) -> ssl.SSLContext | Failure | None:
    """Return the TLS context of a request; None for plain http."""
    if not request.origin.secure:
        return None
    try:
        async with asyncio.timeout(CONTEXT_TIMEOUT_S):
            return await contexts.of(request.origin.identity, request.owner)
    except TimeoutError:
        return Failure(ErrorCode.CONNECT, "too many TLS identities are being prepared", counted=False)


def _check(rules: Egress, origin: Origin, addresses: Sequence[str]) -> None:
    """Refuse the host if any one of its addresses is not allowed: a later lookup could return that address first."""
    why = rules.refusal(secure=origin.secure, port=origin.port, addresses=addresses)
    if why is not None:
        raise EgressRefused(f"{origin.host}:{origin.port} may not be called: {why}")


async def _first(
    origin: Origin, addresses: Sequence[str], trust: ssl.SSLContext | None, make: Make, seconds: float
) -> Connection:
    """Connect to the first address that answers; each address but the last has an equal part of the time."""
    for address in addresses[:-1]:
        try:
            async with asyncio.timeout(seconds / len(addresses)):
                return await _connect(origin, address, trust, make)
        except ssl.SSLError:
            raise  # the host answered; its other addresses would answer the same
        except OSError:  # includes TimeoutError
            continue
    return await _connect(origin, addresses[-1], trust, make)


async def _connect(origin: Origin, address: str, trust: ssl.SSLContext | None, make: Make) -> Connection:
    loop = asyncio.get_running_loop()
    if trust is None:
        _, connection = await loop.create_connection(make, address, origin.port)
    else:
        _, connection = await loop.create_connection(make, address, origin.port, ssl=trust, server_hostname=origin.host)
    return connection
