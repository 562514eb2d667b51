"""Make a connection to an address that was allowed, in the name of the host that was asked for."""

import asyncio
import ssl
from collections.abc import Callable, Sequence
from typing import Final

from horae.delivery.connection import Connection
from horae.delivery.http import Failure, Origin, Request
from horae.delivery.names import Names, NotAllowed
from horae.delivery.tls import Contexts
from horae.domain.egress import Egress
from horae.domain.outcomes import ErrorCode

MOST_ADDRESSES: Final = 4
CONTEXT_TIMEOUT_S: Final = 10.0

Make = Callable[[], Connection]


async def dial(request: Request, names: Names, contexts: Contexts, usual: Egress, make: Make) -> Connection | Failure:
    """A new connection within the connect timeout, or why there is none. Nothing of the request was sent."""
    origin = request.origin
    rules = usual if origin.egress is None else origin.egress
    where = f"{origin.host}:{origin.port}"
    try:
        _check(rules, origin, ())  # before anybody is asked for the name
        trust = await _trust(request, contexts)
        if isinstance(trust, Failure):
            return trust
        async with asyncio.timeout(request.connect_timeout):
            addresses = await names.addresses(origin.host, origin.port, request.owner)
            _check(rules, origin, addresses)
            return await _first(origin, addresses[:MOST_ADDRESSES], trust, make, request.connect_timeout)
    except NotAllowed as error:
        return Failure(ErrorCode.REFUSED, str(error))
    except ssl.SSLError as error:
        return Failure(ErrorCode.TLS, f"no trust in {where}: {error}")
    except TimeoutError:
        if names.starved(origin.host, origin.port, request.owner):
            waited = f"{origin.host} was not looked up within {request.connect_timeout:g} s: too many other names are"
            return Failure(ErrorCode.CONNECT, waited, counted=False)
        return Failure(ErrorCode.CONNECT, f"no connection to {where} within {request.connect_timeout:g} s")
    except (OSError, ValueError) as error:  # a name that cannot be a name is a ValueError
        return Failure(ErrorCode.CONNECT, f"no connection to {where}: {error}")


async def _trust(request: Request, contexts: Contexts) -> ssl.SSLContext | Failure | None:
    """Who we are and whom we trust. Making it is our work, and its time is not the target's."""
    if not request.origin.secure:
        return None
    try:
        async with asyncio.timeout(CONTEXT_TIMEOUT_S):
            return await contexts.of(request.origin.identity, request.owner)
    except TimeoutError:
        return Failure(ErrorCode.CONNECT, "too many TLS identities are being prepared", counted=False)


def _check(rules: Egress, origin: Origin, addresses: Sequence[str]) -> None:
    """One address that may not be reached condemns the name: the next look might give us that one."""
    why = rules.refusal(secure=origin.secure, port=origin.port, addresses=addresses)
    if why is not None:
        raise NotAllowed(f"{origin.host}:{origin.port} may not be called: {why}")


async def _first(
    origin: Origin, addresses: Sequence[str], trust: ssl.SSLContext | None, make: Make, seconds: float
) -> Connection:
    """The first address that answers; each but the last has its share of the time."""
    for address in addresses[:-1]:
        try:
            async with asyncio.timeout(seconds / len(addresses)):
                return await _connect(origin, address, trust, make)
        except ssl.SSLError:
            raise  # it answered, and the others would answer the same
        except OSError:  # a timeout is one
            continue
    return await _connect(origin, addresses[-1], trust, make)


async def _connect(origin: Origin, address: str, trust: ssl.SSLContext | None, make: Make) -> Connection:
    loop = asyncio.get_running_loop()
    if trust is None:
        _, connection = await loop.create_connection(make, address, origin.port)
    else:
        _, connection = await loop.create_connection(make, address, origin.port, ssl=trust, server_hostname=origin.host)
    return connection
