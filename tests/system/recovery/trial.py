"""A Patroni cluster that loses its primary and all nodes but one, and recovery that is started by one command."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from horae.service.context import PlatformContext
from horae.service.incidents import incidents
from horae.service.incidents.incidents import IncidentDetail
from tests.catcher import Catcher
from tests.keyring import keyring
from tests.steps import until
from tests.system.failover.faults import FAULTS, kill_primary
from tests.system.failover.patroni import PatroniCluster
from tests.system.failover.trial import Trial
from tests.system.recovery.loads import critical_jobs, first_critical_after

FAULT: Final = "primary-and-nodes"
CRITICAL_JOBS: Final = 50
READY_TIMEOUT_S: Final = 120.0
ENDED_TIMEOUT_S: Final = 900.0


async def recover_once(trial: Trial, catcher: Catcher) -> dict[str, Any]:
    """Kill the primary and all nodes but one, start recovery, and return what was counted afterwards.

    A node that has ended is started again, as its service manager does. Nobody does anything else.
    """
    started: dict[str, Any] = {}
    FAULTS[FAULT] = lambda cluster: _strike(trial, cluster, catcher, started)
    try:
        run = await trial.run(FAULT, catcher)
    finally:
        del FAULTS[FAULT]
    first = first_critical_after(catcher, started["at"])
    done = await _ended(trial)
    rto = None if first is None else round((first.at - started["at"]).total_seconds(), 1)
    summary = done.summary._asdict()
    return {**run, "critical_after_s": rto, "result": done.incident.result, **summary}


async def begin(trial: Trial, catcher: Catcher) -> None:
    """Add critical jobs to those that fire."""
    await critical_jobs(trial.ctx, trial.ctx.store, catcher, CRITICAL_JOBS)


@asynccontextmanager
async def _strike(
    trial: Trial, cluster: PatroniCluster, catcher: Catcher, started: dict[str, Any]
) -> AsyncIterator[str | None]:
    async with kill_primary(cluster) as old:
        started["at"] = catcher.now()
        for node in trial.nodes[:-1]:  # if nobody has watched the promotion, the cell is closed until a person looks
            node.kill()
        command = asyncio.create_task(_recover(trial))
        started_again = [asyncio.create_task(node.ready(READY_TIMEOUT_S)) for node in trial.nodes]
        yield old
        await asyncio.gather(command, *started_again)


async def _recover(trial: Trial) -> None:
    """`horae recover start`, in a process of its own."""
    cells = json.dumps([{"name": trial.cell.name, "dsn": trial.cell.dsn}])
    env = {**os.environ, "HORAE_CELLS": cells, "HORAE_ENVIRONMENT": "test", "HORAE_KEYRING": str(keyring())}
    words = ("recover", "start", "--grade", "P1", "--reason", "the primary and nodes are lost")
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "horae", *words, env=env, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    said, _ = await process.communicate()
    assert process.returncode == 0, said.decode()


async def _ended(trial: Trial) -> IncidentDetail:
    """The newest incident, when it has ended."""
    ctx = PlatformContext(trial.ctx.store, "test")

    async def has_ended() -> bool:
        [newest, *_] = await incidents.listing(ctx)
        return newest.ended_at is not None

    await until(has_ended, ENDED_TIMEOUT_S)
    return await incidents.detail(ctx, (await incidents.listing(ctx))[0])
