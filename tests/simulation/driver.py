"""What stands where asyncpg stands: connections over which every call may be slow, lost, or the last of its process.

Above it everything is the product's own: the cells' pools and lines, the store's functions, their SQL.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tests.simulation.day import at
from tests.simulation.fates import Fate
from tests.simulation.loop import PROCESS
from tests.simulation.server import NAMES

if TYPE_CHECKING:
    from tests.simulation.world import World

CLOCK = "clock_timestamp()"
COUNTED = "nodes/pulses/read"
"""A statement that reads PostgreSQL's own counters of written rows."""


class Cut(ConnectionError):
    """The connection was lost, before or after the statement was run."""


class Connection:
    """One simulated connection to the one real database. No cell is restored here, so it needs no key of its cell."""

    cell_key = None

    def __init__(self, world: "World") -> None:
        self.world = world
        self._closed = False
        self._fate: Fate | None = None  # of the transaction that is open
        self._listening: list[Callable[[str], None]] = []

    async def fetch(self, statement: str, *args: Any) -> Any:
        return await self._run("fetch", statement, args)

    async def fetchrow(self, statement: str, *args: Any) -> Any:
        return await self._run("fetchrow", statement, args)

    async def fetchval(self, statement: str, *args: Any) -> Any:
        return await self._run("fetchval", statement, args)

    async def execute(self, statement: str, *args: Any) -> Any:
        match _verb(statement):
            case "begin":
                await self._begin(statement)
            case "commit":
                await self._commit()
            case "rollback":
                self._roll_back()
            case _:
                return await self._run("execute", statement, args)
        return None

    async def add_listener(self, _channel: str, heard: Any) -> None:
        process = PROCESS.get()
        context = None if process is None else process.context()
        loop = self.world.loop
        self._listening.append(lambda said: loop.call_soon(heard, self, 0, "", said, context=context) and None)
        self.world.listeners.append(self._listening[-1])

    def is_closed(self) -> bool:
        return self._closed

    def terminate(self) -> None:
        self._closed = True
        for heard in self._listening:
            self.world.listeners.remove(heard)
        self._listening.clear()

    async def close(self, timeout: float | None = None) -> None:
        self.terminate()

    def check(self) -> None:
        if self.world.over or self._closed:
            raise Cut("the connection is closed")

    @property
    def _transport(self) -> Any:
        return NoSocket()

    async def _run(self, verb: str, statement: str, args: tuple[Any, ...]) -> Any:
        name = NAMES[statement]
        self.check()
        if self._fate is not None:
            return self._ask(verb, name, statement, args)
        fate = await self._before(name)
        result = self._ask(verb, name, statement, args)
        self.world.witness.commit()
        await self._after(name, fate)
        return result

    async def _begin(self, statement: str) -> None:
        """One step, however many statements: begun when it begins, and at its end committed, or lost."""
        world = self.world
        self.check()
        fate, wait = world.fates.next("transaction")
        await asyncio.sleep(wait)
        self.check()
        assert not world.in_transaction, "someone waited for something inside a transaction"
        self._fate, world.in_transaction = fate, True
        world.server.wait(world.server.connection.execute(statement))

    async def _commit(self) -> None:
        fate, world = self._fate, self.world
        assert fate is not None, "nothing was begun"
        if fate is Fate.LOST_BEFORE:
            self._roll_back()
            world.tell("transaction", "lost before its commit")
            self.terminate()
            raise Cut("lost before it was committed")
        self._fate, world.in_transaction = None, False
        world.server.wait(world.server.connection.execute("commit"))
        world.witness.commit()
        await self._after("transaction", fate)

    def _roll_back(self) -> None:
        if self._fate is not None:
            self._fate, self.world.in_transaction = None, False
            self.world.server.wait(self.world.server.connection.execute("rollback"))
            self.world.witness.roll_back()

    async def _before(self, name: str) -> Fate:
        fate, wait = self.world.fates.next(name)
        await asyncio.sleep(wait)
        self.check()  # whoever waited may have given up
        if fate is Fate.LOST_BEFORE:
            self.world.tell(name, "lost before")
            self.terminate()
            raise Cut("lost before it was run")
        return fate

    async def _after(self, name: str, fate: Fate) -> None:
        process = PROCESS.get()
        if process is not None and not self.world.fates.peace:
            if fate is Fate.CRASH:
                self.world.crash(process, f"after {name}")
                await self.world.loop.create_future()  # nobody ever hears of it
            if fate is Fate.PAUSE:
                self.world.pause(process, f"after {name}")
        await asyncio.sleep(self.world.fates.latency())
        self.check()
        if fate is Fate.LOST_AFTER:
            self.world.tell(name, "reply lost")
            self.terminate()
            raise Cut("its reply was lost")

    def _ask(self, verb: str, name: str, statement: str, args: tuple[Any, ...]) -> Any:
        world = self.world
        if name == "nodes/wakes/notify":
            world.notify(args[0])
            return None
        if name == "nodes/wakes/ping":
            return None
        if name == COUNTED:  # the server publishes its counters when it has the time: a replay would read others
            world.server.wait(world.server.connection.execute("select pg_stat_force_next_flush()"))
        statement = world.planted(name, statement)
        if CLOCK in statement:  # the database's own clock is virtual too
            statement = statement.replace(CLOCK, f"${len(args) + 1}::timestamptz")
            args = (*args, at(world.loop.time()))
        result = world.server.wait(getattr(world.server.connection, verb)(statement, *args))
        many = len(result) if isinstance(result, list) else int(result is not None)
        world.tell(name, many)
        world.witness.saw(name, args, result)
        return result


def _verb(statement: str) -> str:
    """The first word that is no comment."""
    said = (line for line in statement.splitlines() if line and not line.startswith("--"))
    return next(said, "").split(None, 1)[0].rstrip(";")


class Pool:
    """As many connections as anyone asks for, each made anew: none lies idle."""

    _holders: tuple[()] = ()

    def __init__(self, world: "World") -> None:
        self.world = world

    def acquire(self, **_facts: object) -> "Acquired":
        return Acquired(self.world)


class Acquired:
    """A connection for a while."""

    def __init__(self, world: "World") -> None:
        self.connection = Connection(world)

    async def __aenter__(self) -> Connection:
        return self.connection

    async def __aexit__(self, *_rest: object) -> None:
        self.connection.terminate()


class NoSocket:
    """A transport without a socket to look at."""

    def get_extra_info(self, _name: str) -> None:
        return None
