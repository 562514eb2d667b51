"""The API server in this process, as `horae api`, `horae serve` and tests run it."""

import asyncio
import resource
import socket
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Final, NamedTuple

import uvicorn
from fastapi import FastAPI

from horae.api.app import AppParts, make
from horae.api.gate import Gate
from horae.api.protocol import ConnectionLimits, protocol_of
from horae.boot.archive import archive_reader_of
from horae.boot.fitness import check_session, examine_api_rights, pooled_statement, sentence, visit_open
from horae.boot.monitoring import api_process, listen_for_probes
from horae.boot.ports import not_listening
from horae.boot.senders import client_of, egress_of, sender_of
from horae.boot.tracing import ProcessTraces, tracing
from horae.delivery.oidc import Issuer, RelyingParty
from horae.domain.errors import Unfit
from horae.domain.health.doctor import Severity
from horae.domain.limits.limits import Limit
from horae.runtime.cancellation import cancel_and_wait
from horae.runtime.loop import Duty, Loop
from horae.runtime.metrics import MetricRegistry, MetricSource
from horae.runtime.randomness import new_token
from horae.runtime.settings import Settings
from horae.runtime.stalls import StallMonitor
from horae.runtime.telemetry import log
from horae.runtime.waker import Waker
from horae.security.cookies import Csrf
from horae.security.signed_texts import Signer
from horae.service.health import readiness
from horae.service.identity.callers import Callers
from horae.service.identity.people import People, Rules
from horae.service.identity.session_callers import Visitors
from horae.service.identity.sessions import Terms
from horae.service.memory import Memory
from horae.service.targets.trials import Trials
from horae.service.workers.polls import Polls
from horae.store import row_level_security
from horae.store.cells import Cell
from horae.store.health.metrics import CellMetrics
from horae.store.health.named_metrics import NamedMetrics
from horae.store.store import Store
from horae.store.tx import Tx
from horae.upkeep.clocks import ClockKeeper
from horae.upkeep.generations import GenerationWatch
from horae.upkeep.identities import IdentityCopier
from horae.upkeep.joining import CellJoiner
from horae.upkeep.measures import MeasureReader
from horae.upkeep.service_level import LevelReader
from horae.upkeep.signals import Signaller

RESERVED_FILES: Final = 256
"""Files that a process needs besides the connections of its clients: cells, logs, targets of test requests."""
MIN_CONNECTIONS_PER_HOST: Final = 100
"""Connections that one host may always have, even if a tenth of all is less."""
IDENTITY_COPY_INTERVAL_S: Final = 2.0
CLOCK_INTERVAL_S: Final = 2.0
LISTENER_INTERVAL_S: Final = 5.0
LAST_USE_INTERVAL_S: Final = 10.0
"""The pause between two rounds that write the last use of API keys and sessions."""
POLLS_INTERVAL_S: Final = 10.0
"""The pause between two rounds that write who polls."""
SIGNALS_INTERVAL_S: Final = 60.0
LEVELS_INTERVAL_S: Final = 30.0
"""The pause between two rounds that read the service level for metrics."""
MEASURES_INTERVAL_S: Final = 2.0
"""The pause between two reads of the measures that are in force."""
CELL_JOIN_INTERVAL_S: Final = 2.0
MONITORING_PORT_SETTING: Final = "HORAE_API_MONITORING_PORT"


class RunningApi(NamedTuple):
    """The address of a running API server, and the metrics of its process."""

    address: str
    metrics: MetricRegistry


class ApiServer(uvicorn.Server):
    """A server that leaves signals to its caller."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture no signals."""
        yield


def app_of(
    settings: Settings, store: Store, callers: Callers, parts: AppParts | None = None, visitors: Visitors | None = None
) -> FastAPI:
    """The application that the settings describe."""
    limit = Limit(settings.api_rate, settings.api_burst, settings.api_concurrency)
    visitors = visitors or Visitors(store)
    gate = Gate(callers, visitors, Signer(settings.api_secret), Csrf(settings.api_secret), limit)
    return make(gate, readiness.Readiness(store).look, parts or AppParts(polls=Polls(store)))


def limits_of(settings: Settings) -> ConnectionLimits:
    """How many connections this process may have: the system's limit of open files, minus a reserve."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = settings.api_connections + RESERVED_FILES
    files = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < files:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
        except (OSError, ValueError):  # macOS has a lower limit than the hard one that it tells
            files = soft
    total = max(10, files - RESERVED_FILES)
    networks = [ip_network(one) for one in settings.api_trusted_proxies]
    return ConnectionLimits(total, share_of_one(total), partial(_within, networks))


def share_of_one(total: int) -> int:
    """How many connections one host may have: a tenth of all.

    If all are few, one host may have half of them, up to `MIN_CONNECTIONS_PER_HOST`.
    """
    return max(total // 10, min(total // 2, MIN_CONNECTIONS_PER_HOST))


def _within(networks: Sequence[IPv4Network | IPv6Network], address: str) -> bool:
    try:
        found = ip_address(address)
    except ValueError:
        return False
    return any(found in network for network in networks)


def terms_of(settings: Settings) -> Terms:
    """How long sessions are valid."""
    return Terms(timedelta(seconds=settings.session_idle), timedelta(seconds=settings.session_life))


def people_of(settings: Settings, store: Store) -> People | None:
    """The login of people; None if no issuer is configured."""
    oidc = settings.oidc
    if oidc is None:
        return None
    issuer = Issuer(client_of(settings), RelyingParty(oidc.issuer, oidc.client_id, oidc.client_secret))
    rules = Rules(oidc.redirect_url, frozenset(oidc.algorithms), oidc.scopes, oidc.groups_claim)
    return People(store, issuer, rules, Signer(settings.api_secret), terms_of(settings))


@asynccontextmanager
async def api_server(settings: Settings, store: Store, stalls: StallMonitor | None = None) -> AsyncIterator[str]:
    """Run the API server during the block; gives its address. With `stalls` it has a listener for probes, too."""
    async with tracing(settings) as traces, run_api(settings, store, traces) as api, AsyncExitStack() as monitored:
        if stalls is not None:
            process = api_process(store, api.metrics, stalls)
            port = settings.api_monitoring_port
            await monitored.enter_async_context(listen_for_probes(settings, port, process, MONITORING_PORT_SETTING))
        yield api.address


@asynccontextmanager
async def run_api(
    settings: Settings, store: Store, traces: ProcessTraces | None, *, beside_node: bool = False
) -> AsyncIterator[RunningApi]:
    """Run the API server. `beside_node`: in the process of a node, which has the metrics of cells and service levels.

    1. Check the open cells. A cell that is lost meanwhile joins later. One that was restored elsewhere is not used.
    2. Build the application, listen on the socket, and start the background duties and the server.
    3. At the end, stop accepting requests and end long polls, so that requests under way can finish.
    4. Then stop the duties, and write what they have recorded since their last round.
    """
    await visit_open(store, partial(_check, settings))
    watch = GenerationWatch(store)
    await _close_outdated(store, watch)
    reader = archive_reader_of(settings)
    tracer = None if traces is None else traces.tracer
    backfill_slots = settings.lane_share().most(settings.slots)
    memory = Memory(reader, settings.service_level, tracer, egress_of(settings), backfill_slots)
    callers, visitors = Callers(store, memory), Visitors(store)
    people = people_of(settings, store)
    trials, polls = Trials(await sender_of(settings, store)), Polls(store)
    clock_waker = Waker()
    keeper = ClockKeeper(store, clock_waker.wake)
    platform = row_level_security.restrict(store, row_level_security.PLATFORM)
    signaller, levels = Signaller(platform, new_token()), LevelReader(platform, settings.service_level)
    metrics: list[MetricSource] = [] if beside_node else [CellMetrics(store), NamedMetrics(store), levels]
    if traces is not None and not beside_node:
        metrics.append(traces.exporter)
    parts = AppParts(
        trials, polls, keeper.on_closed_shard, people, terms_of(settings), metrics, tracer, settings.trace_link
    )
    app = app_of(settings, store, callers, parts, visitors)
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
    server = ApiServer(config)
    keeping = Loop("clockkeeper", keeper, CLOCK_INTERVAL_S, clock_waker)
    duties: tuple[tuple[Duty, float], ...] = (
        (CellJoiner([store], partial(_check_joining, settings, watch)), CELL_JOIN_INTERVAL_S),
        (IdentityCopier(store), IDENTITY_COPY_INTERVAL_S),
        (callers, LAST_USE_INTERVAL_S),
        (visitors, LAST_USE_INTERVAL_S),
        (polls.recorder, POLLS_INTERVAL_S),
        (signaller, SIGNALS_INTERVAL_S),
        *(() if beside_node else ((MeasureReader(platform), MEASURES_INTERVAL_S),)),
        *(() if beside_node else ((levels, LEVELS_INTERVAL_S),)),
        *((listener, LISTENER_INTERVAL_S) for listener in polls.listeners),
    )
    loops = [keeping, *(Loop(type(duty).__name__.lower(), duty, pause) for duty, pause in duties)]
    upkeep = [asyncio.create_task(loop.run()) for loop in loops]
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        host, port = listening.getsockname()[:2]
        yield RunningApi(f"http://{host}:{port}", app.state.metrics.registry)
    finally:
        server.should_exit = True
        memory.tails.close()
        await polls.close()
        await serving
        await cancel_and_wait(*upkeep)
        await trials.close()
        if reader is not None:
            await reader.close()
        if people is not None:
            await people.close()
        with suppress(Exception):  # the last notes; a cell that is down does not stop us
            await callers.once()
            await visitors.once()
            await signaller.once()


async def _close_outdated(store: Store, watch: GenerationWatch) -> None:
    """Close the cells whose database is from before a restore elsewhere: what is written to it would be lost.

    A node also marks such a database, which the role of the API may not do.
    """
    await watch.learn()
    outdated = watch.outdated()
    for cell in store.cells:
        if cell.name in outdated:
            log.error("cell.refused", cell=cell.name, reason=outdated[cell.name])
            await cell.close()


async def _check_joining(settings: Settings, watch: GenerationWatch, cell: Cell) -> None:
    """Check a cell that joins later like those that were there at the start."""
    await _check(settings, cell)
    await watch.learn()
    await watch.check(cell, datetime.now(UTC))


async def _check(settings: Settings, cell: Cell) -> None:
    """Refuse a cell where a pooler drops the settings of our sessions, and a role that lacks a right.

    In production, also refuse a role that row-level security does not apply to.
    """
    await check_session(cell)
    production = settings.environment == "production"
    async with pooled_statement(cell) as tx:
        found = await examine_api_rights(tx)
        held = [await row_level_security.is_enforced(tx)] if production else []
    if found.level is Severity.FAULT:
        raise Unfit(sentence(cell.name, found))
    if not production:
        return
    async with cell.direct() as connection:
        held.append(await row_level_security.is_enforced(Tx(connection, datetime.now(UTC))))
    if not all(held):
        raise Unfit(f"{cell.name}: row-level security does not hold this role; set HORAE_API_DSN to horae_api's")


def listen(host: str, port: int) -> socket.socket:
    """A socket that several processes can share; the kernel distributes the connections."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if hasattr(socket, "SO_REUSEPORT"):
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        made.bind((host, port))
        made.listen(2048)
    except OSError as error:
        made.close()
        advice = "end it, or choose another port (--port, HORAE_API_PORT)"
        raise not_listening(host, port, error, advice, "HORAE_API_HOST, HORAE_API_PORT") from error
    made.setblocking(False)
    return made
