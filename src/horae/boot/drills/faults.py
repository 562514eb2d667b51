"""The faults that a drill causes: signals to processes of its own host, Patroni's API, and its own receiver."""

import asyncio
import signal
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol

from horae.boot.drills.processes import ProcessRef, command_of, parent_of, tree
from horae.boot.drills.receiver import DrillReceiver
from horae.boot.drills.way_back import ContinueProcess, WayBack
from horae.delivery.patroni import PatroniMember
from horae.domain.errors import Conflict, Invalid, NotFound
from horae.service.context import CallerContext
from horae.service.health import health
from horae.service.restores.plans import find_cells
from horae.store.health.health import backend_pid

NODE_COMMANDS: Final = frozenset({"node", "serve"})
LEAST_NODES: Final = 2
LEAST_MEMBERS: Final = 3


class DrillFault(Protocol):
    """Something that a drill breaks."""

    @property
    def how(self) -> str:
        """What is done to what, for people."""

    async def check(self) -> None:
        """Refuse the fault where it is not the one that is meant, or where it would hurt for longer than the drill."""

    def way_back(self) -> Sequence[WayBack]:
        """The steps of the guardian. They are known before `cause`."""

    async def cause(self) -> str:
        """Break it; returns what was done."""

    async def mend(self) -> None:
        """Mend what ends together with the drill's process by itself."""

    async def is_back(self) -> bool:
        """Whether all that was broken works again."""


class NodeLoss:
    """A node of this host is killed, and its supervisor starts it again; or it is frozen, and continued."""

    def __init__(self, ctx: CallerContext, node: ProcessRef, *, freeze: bool) -> None:
        self._ctx, self._node, self._freeze = ctx, node, freeze
        self._alive: dict[str, int] = {}

    @property
    def how(self) -> str:
        """See `DrillFault`."""
        return (
            f"SIG{'STOP' if self._freeze else 'KILL'} to the node with pid {self._node.pid} on {socket.gethostname()}"
        )

    async def check(self) -> None:
        """The process is a node of this deployment, and not the only one."""
        words = command_of(self._node)
        if not (NODE_COMMANDS & set(words) and any(Path(word).name == "horae" for word in words)):
            raise Invalid(f"process {self._node.pid} is neither `horae node` nor `horae serve`")
        self._alive = await self._count()
        lonely = sorted(cell for cell, many in self._alive.items() if many < LEAST_NODES)
        if lonely:
            raise Conflict(f"{', '.join(lonely)} would have no node left: a drill needs {LEAST_NODES} at least")
        if not await self._count(socket.gethostname()):
            raise NotFound(f"no node of {socket.gethostname()} is alive in the cells of this deployment")

    def way_back(self) -> Sequence[WayBack]:
        """See `DrillFault`."""
        return (ContinueProcess(self._node),) if self._freeze else ()

    async def cause(self) -> str:
        """See `DrillFault`."""
        if not self._node.signal(signal.SIGSTOP if self._freeze else signal.SIGKILL):
            raise NotFound(f"process {self._node.pid} has ended before the drill")
        return self.how

    async def mend(self) -> None:
        """See `DrillFault`."""

    async def is_back(self) -> bool:
        """As many nodes are alive in every cell as before."""
        now = await self._count()
        return all(now.get(cell, 0) >= many for cell, many in self._alive.items())

    async def _count(self, host: str | None = None) -> dict[str, int]:
        found = await health.nodes(self._ctx)
        return {
            one.cell: sum(node.alive and not node.draining and host in (None, node.name) for node in one.nodes)
            for one in found
            if one.nodes is not None
        }


class OutageOfTargets:
    """Every target of the load answers with 503."""

    def __init__(self, receiver: DrillReceiver) -> None:
        self._receiver = receiver

    @property
    def how(self) -> str:
        """See `DrillFault`."""
        return "the receiver of the drill answers every call with 503"

    async def check(self) -> None:
        """See `DrillFault`."""

    def way_back(self) -> Sequence[WayBack]:
        """None: the receiver ends with the drill, and its jobs end by themselves."""
        return ()

    async def cause(self) -> str:
        """See `DrillFault`."""
        self._receiver.fails = True
        return self.how

    async def mend(self) -> None:
        """See `DrillFault`."""
        self._receiver.fails = False

    async def is_back(self) -> bool:
        """See `DrillFault`."""
        return not self._receiver.fails


class CellLoss:
    """The PostgreSQL of a cell, which runs on this host, is frozen: it answers nothing, and loses nothing."""

    def __init__(self, ctx: CallerContext, cell: str, server: ProcessRef) -> None:
        self._ctx, self._name, self._server = ctx, cell, server

    @property
    def how(self) -> str:
        """See `DrillFault`."""
        return f"SIGSTOP to the PostgreSQL of {self._name} with pid {self._server.pid} and its children"

    async def check(self) -> None:
        """See `check_server`."""
        await check_server(self._ctx, self._name, self._server)

    def way_back(self) -> Sequence[WayBack]:
        """See `DrillFault`."""
        return (ContinueProcess(self._server),)

    async def cause(self) -> str:
        """Stop the parent first: it starts no other child then."""
        if not self._server.signal(signal.SIGSTOP):
            raise NotFound(f"process {self._server.pid} has ended before the drill")
        stopped = sum(one.signal(signal.SIGSTOP) for one in tree(self._server))
        return f"{self.how}, {stopped} processes"

    async def mend(self) -> None:
        """See `DrillFault`."""

    async def is_back(self) -> bool:
        """The cell answers."""
        found = await health.nodes(self._ctx)
        return any(one.cell == self._name and one.nodes is not None for one in found)


class PrimaryLoss:
    """The primary of a cell stops leading: Patroni switches over, or its PostgreSQL on this host is killed."""

    def __init__(
        self, ctx: CallerContext, cell: str, url: str, credential_file: Path | None, server: ProcessRef | None
    ) -> None:
        self._ctx, self._cell = ctx, cell
        self._url, self._server = url, server
        self._patroni = PatroniMember(url, credential_file)
        self._leader = self._candidate = ""
        self._members = 0

    @property
    def how(self) -> str:
        """See `DrillFault`."""
        if self._server is not None:
            return f"SIGKILL to the PostgreSQL of the primary {self._leader} with pid {self._server.pid}"
        return f"switchover of Patroni from {self._leader} to {self._candidate}"

    async def check(self) -> None:
        """The cluster is whole, so that it has somebody to switch to."""
        try:
            self._members = await asyncio.to_thread(self._patroni.count)
            self._leader = await asyncio.to_thread(self._patroni.leader)
            self._candidate = await asyncio.to_thread(self._patroni.synchronous_standby)
        except (OSError, LookupError) as error:
            raise Conflict(f"the cluster of Patroni at {self._url} is not whole: {error}") from error
        if self._members < LEAST_MEMBERS or not await self.is_back():
            raise Conflict(f"the cluster of Patroni at {self._url} is not whole: nothing was broken")
        if self._server is not None:
            await check_server(self._ctx, self._cell, self._server)

    def way_back(self) -> Sequence[WayBack]:
        """None: Patroni brings the former primary back as a standby, whatever becomes of the drill."""
        return ()

    async def cause(self) -> str:
        """See `DrillFault`."""
        if self._server is None:
            return await asyncio.to_thread(self._patroni.switch_over, self._leader, self._candidate)
        if not self._server.signal(signal.SIGKILL):
            raise NotFound(f"process {self._server.pid} has ended before the drill")
        return self.how

    async def mend(self) -> None:
        """See `DrillFault`."""

    async def is_back(self) -> bool:
        """A primary and a synchronous standby are there, and all members stream."""
        return await asyncio.to_thread(self._patroni.is_whole, self._members)


async def check_server(ctx: CallerContext, name: str, server: ProcessRef) -> None:
    """Refuse a process that is not the PostgreSQL of a cell, which has our session as its child."""
    cell, _ = find_cells(ctx, name)
    async with cell.statement() as tx:
        found = parent_of(await backend_pid(tx))
    if found != server.pid:
        raise Invalid(f"process {server.pid} of this host is not the PostgreSQL of {name}")
    if not server.may_be_signalled:
        raise Invalid(f"this user may not signal process {server.pid}: run the drill as its user")
