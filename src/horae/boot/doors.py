"""The doors in this process: what `horae api` and tests have in common."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

import uvicorn
from fastapi import FastAPI

from horae.api.app import Parts, make
from horae.api.gate import Gate
from horae.boot.serving import sender_of
from horae.domain.errors import Unfit
from horae.domain.limits import Limit
from horae.runtime.chance import token
from horae.runtime.loop import Duty, Loop
from horae.runtime.settings import Settings
from horae.security.seals import Seals
from horae.service import readiness
from horae.service.callers import Callers
from horae.service.polls import Polls
from horae.service.trials import Trials
from horae.store import walls
from horae.store.cells import Store
from horae.upkeep.clocks import ClockKeeper
from horae.upkeep.identities import IdentityCopier
from horae.upkeep.signals import Signaller

COPY, CLOCK, LISTEN, USED, SIGNAL = 2.0, 2.0, 5.0, 10.0, 60.0


class Server(uvicorn.Server):
    """A server that leaves signals to whoever started it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """None are captured."""
        yield


def app_of(settings: Settings, store: Store, callers: Callers, parts: Parts | None = None) -> FastAPI:
    """The application that the settings describe."""
    limit = Limit(settings.api_rate, settings.api_burst, settings.api_concurrency)
    gate = Gate(callers, Seals(settings.api_secret), limit)
    return make(gate, lambda: readiness.look(store), parts or Parts(polls=Polls(store)))


@asynccontextmanager
async def opened(settings: Settings, store: Store) -> AsyncIterator[str]:
    """The doors stand open while the block lasts; then requests under way may end. Gives the address."""
    await _check_walls(settings, store)
    callers = Callers(store)
    trials, polls = Trials(await sender_of(settings, store)), Polls(store)
    keeper = ClockKeeper(store)
    app = app_of(settings, store, callers, Parts(trials, polls, keeper.closed))
    signaller = Signaller(walls.behind(store, walls.PLATFORM), token())
    listening = listen(settings.api_host, settings.api_port)
    config = uvicorn.Config(
        app,
        http="httptools",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=int(settings.grace),
    )
    server = Server(config)
    keeping = Loop("clockkeeper", keeper, CLOCK)
    keeper.wake = keeping.waker.wake
    duties: tuple[tuple[Duty, float], ...] = (
        (IdentityCopier(store), COPY),
        (callers, USED),
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
        for task in upkeep:
            task.cancel()
        await asyncio.gather(*upkeep, return_exceptions=True)
        await trials.close()
        with suppress(Exception):  # what was noted last; a cell that is down does not keep us
            await callers.once()
            await signaller.once()


async def _check_walls(settings: Settings, store: Store) -> None:
    """In production no request is served by a role that row-level security does not hold."""
    for cell in store.cells:
        async with cell.statement() as tx:
            if settings.environment == "production" and not await walls.standing(tx):
                raise Unfit(
                    f"{cell.name}: row-level security does not hold this role; set HORAE_API_DSN to horae_api's"
                )


def listen(host: str, port: int) -> socket.socket:
    """A socket that several processes may listen on: the kernel deals the connections out."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    made.bind((host, port))
    made.listen(2048)
    made.setblocking(False)
    return made
