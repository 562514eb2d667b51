"""What happens to a member, and how it is put right again."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Final

from tests.system.failover.patroni import MEMBERS, PatroniCluster

WITHOUT_ETCD_S: Final = 60.0
Fault = Callable[[PatroniCluster], AbstractAsyncContextManager[str | None]]
"""Strikes when entered and heals when left; gives the name of the primary that it takes away, if any."""


@asynccontextmanager
async def kill_primary(cluster: PatroniCluster) -> AsyncIterator[str | None]:
    """The machine of the primary loses power, and comes back."""
    primary = await cluster.member("leader")
    primary.kill()
    yield primary.name
    primary.start_agent()


@asynccontextmanager
async def freeze_agent(cluster: PatroniCluster) -> AsyncIterator[str | None]:
    """Only the agent of the primary hangs: its PostgreSQL goes on and does not know that it was replaced."""
    primary = await cluster.member("leader")
    primary.agent.signal(signal.SIGSTOP)
    yield primary.name
    primary.agent.signal(signal.SIGCONT)


@asynccontextmanager
async def cut_primary(cluster: PatroniCluster) -> AsyncIterator[str | None]:
    """The cable of the primary is pulled: nobody hears from it, and it hears from nobody."""
    primary = await cluster.member("leader")
    cluster.switch.cut(primary.number)
    yield primary.name
    cluster.switch.mend(primary.number)


@asynccontextmanager
async def lose_standby(cluster: PatroniCluster) -> AsyncIterator[str | None]:
    """The synchronous standby loses power: the other standby takes its part."""
    standby = await cluster.member("sync_standby")
    standby.kill()
    yield None
    standby.start_agent()


@asynccontextmanager
async def lose_etcd(cluster: PatroniCluster) -> AsyncIterator[str | None]:
    """All of etcd is gone for a minute."""
    for member in cluster.members:
        member.etcd.end()
    await asyncio.sleep(WITHOUT_ETCD_S)
    yield None
    for member in cluster.members[:MEMBERS]:
        member.start_etcd()


FAULTS: Final[dict[str, Fault]] = {
    "kill-primary": kill_primary,
    "freeze-agent": freeze_agent,
    "cut-primary": cut_primary,
    "lose-standby": lose_standby,
    "lose-etcd": lose_etcd,
}
