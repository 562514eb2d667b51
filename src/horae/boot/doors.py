"""The doors in this process: what `horae api` and tests have in common."""

import asyncio
import errno
import resource
import socket
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Final

import uvicorn
from fastapi import FastAPI

from horae.api.app import Parts, make
from horae.api.gate import Gate
from horae.api.protocol import ConnectionLimits, protocol_of
from horae.boot.fitness import check_session, pooled_statement, visit_open
from horae.boot.serving import client_of, sender_of
from horae.delivery.oidc import Issuer, Relying
from horae.domain.errors import Unavailable, Unfit
from horae.domain.limits import Limit
from horae.runtime.chance import token
from horae.runtime.ending import ended
from horae.runtime.loop import Duty, Loop
from horae.runtime.settings import Settings
from horae.security.cookies import Csrf
from horae.security.seals import Seals
from horae.service import readiness
from horae.service.callers import Callers
from horae.service.people import People, Rules
from horae.service.polls import Polls
from horae.service.sessions import Terms
from horae.service.trials import Trials
from horae.service.visitors import Visitors
from horae.store import walls
from horae.store.cells import Cell, Store
from horae.store.tx import Tx
from horae.upkeep.clocks import ClockKeeper
from horae.upkeep.identities import IdentityCopier
from horae.upkeep.joining import CellJoiner
from horae.upkeep.signals import Signaller

RESERVED_FILES: Final = 256
"""Files that a process needs beside the connections of its callers: cells, logs, targets that are tried."""
SMALL_SHARE: Final = 100
"""Connections that one host may have where a tenth of all is less."""
COPY, CLOCK, LISTEN, USED, SIGNAL = 2.0, 2.0, 5.0, 10.0, 60.0
JOIN: Final = 2.0


class Server(uvicorn.Server):
    """A server that leaves signals to whoever started it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """None are captured."""
        yield


def app_of(
    settings: Settings, store: Store, callers: Callers, parts: Parts | None = None, visitors: Visitors | None = None
) -> FastAPI:
    """The application that the settings describe."""
    limit = Limit(settings.api_rate, settings.api_burst, settings.api_concurrency)
    visitors = visitors or Visitors(store)
    gate = Gate(callers, visitors, Seals(settings.api_secret), Csrf(settings.api_secret), limit)
    return make(gate, readiness.Readiness(store).look, parts or Parts(polls=Polls(store)))


def limits_of(settings: Settings) -> ConnectionLimits:
    """How many connections this process may have: as many as the system lets it have files, but for a reserve."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = settings.api_connections + RESERVED_FILES
    files = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < files:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
    total = max(10, files - RESERVED_FILES)
    networks = [ip_network(one) for one in settings.api_trusted_proxies]
    return ConnectionLimits(total, share_of_one(total), partial(_within, networks))


def share_of_one(total: int) -> int:
    """How many connections one host may have: a tenth; of few connections half, up to `SMALL_SHARE`."""
    return max(total // 10, min(total // 2, SMALL_SHARE))


def _within(networks: Sequence[IPv4Network | IPv6Network], address: str) -> bool:
    try:
        found = ip_address(address)
    except ValueError:
        return False
    return any(found in network for network in networks)


def terms_of(settings: Settings) -> Terms:
    """How long sessions are good."""
    return Terms(timedelta(seconds=settings.session_idle), timedelta(seconds=settings.session_life))


def people_of(settings: Settings, store: Store) -> People | None:
    """Where people log in; None where no issuer is configured."""
    oidc = settings.oidc
    if oidc is None:
        return None
    issuer = Issuer(client_of(settings), Relying(oidc.issuer, oidc.client_id, oidc.client_secret))
    rules = Rules(oidc.redirect_url, frozenset(oidc.algorithms), oidc.scopes, oidc.groups_claim)
    return People(store, issuer, rules, Seals(settings.api_secret), terms_of(settings))


@asynccontextmanager
async def opened(settings: Settings, store: Store) -> AsyncIterator[str]:
    """The doors stand open while the block lasts; then requests under way may end. Gives the address."""
    await visit_open(store, partial(_check, settings))
    callers, visitors = Callers(store), Visitors(store)
    people = people_of(settings, store)
    trials, polls = Trials(await sender_of(settings, store)), Polls(store)
    keeper = ClockKeeper(store)
    parts = Parts(trials, polls, keeper.closed, people, terms_of(settings))
    app = app_of(settings, store, callers, parts, visitors)
    signaller = Signaller(walls.behind(store, walls.PLATFORM), token())
    listening = listen(settings.api_host, settings.api_port)
    config = uvicorn.Config(
        app,
        http=protocol_of(limits_of(settings)),
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.api_trusted_proxies),
        forwarded_allow_ips=settings.api_trusted_proxies,
        timeout_graceful_shutdown=int(settings.grace),
    )
    server = Server(config)
    keeping = Loop("clockkeeper", keeper, CLOCK)
    keeper.wake = keeping.waker.wake
    duties: tuple[tuple[Duty, float], ...] = (
        (CellJoiner([store], partial(_check, settings)), JOIN),
        (IdentityCopier(store), COPY),
        (callers, USED),
        (visitors, USED),
        (signaller, SIGNAL),
        *((listener, LISTEN) for listener in polls.listeners),
    )
    loops = [keeping, *(Loop(type(duty).__name__.lower(), duty, pause) for duty, pause in duties)]
    upkeep = [asyncio.create_task(loop.run()) for loop in loops]
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        host, port = listening.getsockname()[:2]
        yield f"http://{host}:{port}"
    finally:
        server.should_exit = True
        await polls.close()
        await serving
        await ended(*upkeep)
        await trials.close()
        if people is not None:
            await people.close()
        with suppress(Exception):  # what was noted last; a cell that is down does not keep us
            await callers.once()
            await visitors.once()
            await signaller.once()


async def _check(settings: Settings, cell: Cell) -> None:
    """Refuse a cell where a pooler leaves out what our sessions set.

    In production no request is served by a role that row-level security does not hold.
    """
    await check_session(cell)
    if settings.environment != "production":
        return
    async with pooled_statement(cell) as tx:
        held = [await walls.standing(tx)]
    async with cell.direct() as connection:
        held.append(await walls.standing(Tx(connection, datetime.now(UTC))))
    if not all(held):
        raise Unfit(f"{cell.name}: row-level security does not hold this role; set HORAE_API_DSN to horae_api's")


def listen(host: str, port: int) -> socket.socket:
    """A socket that several processes may listen on: the kernel deals the connections out."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        made.bind((host, port))
        made.listen(2048)
    except OSError as error:
        made.close()
        raise Unavailable(_not_listening(host, port, error)) from error
    made.setblocking(False)
    return made


def _not_listening(host: str, port: int, error: OSError) -> str:
    """Why nobody can be heard there, and what to change."""
    where = f"port {port} of {host}"
    if error.errno == errno.EADDRINUSE:
        return f"{where} is in use by another program: end it, or choose another port (--port, HORAE_API_PORT)"
    return f"cannot listen on {where}: {error.strerror or error} (HORAE_API_HOST, HORAE_API_PORT)"
