"""The least a pusher does: the same statements and the same client, JSON and signature included, and nothing around.

Each worker takes due cursors, fires them RUNNING, sends them, waits for the answers and ends them. There is no wheel,
no admission, no lease, no retry and nobody else.
"""

import asyncio
import json
import sys
import time
from datetime import UTC, datetime, timedelta
from uuid import UUID

import asyncpg
import uvloop

from benchmarks.data import TARGET_PORT, TENANT
from benchmarks.nodes import LOCAL, SECRET
from horae.delivery.client import Client
from horae.delivery.push import Delivery, Sender
from horae.delivery.secrets import secrets_in_memory
from horae.domain.instances import idempotency_keys
from horae.domain.instances.instances import Instance, Lane, Priority
from horae.domain.instances.lifecycle import State
from horae.domain.instances.outcomes import InstanceEnd
from horae.domain.jobs.jobs import Definition, Job, Status
from horae.domain.placement import SHARDS, Run
from horae.domain.schedules.triggers import ManualTrigger
from horae.domain.targets.targets import HttpTarget
from horae.runtime.randomness import new_id, new_token
from horae.store.cells import SESSION, use_json
from horae.store.instances import instances
from horae.store.instances.instances import Attempt, EndRow
from horae.store.nodes.scans import ScanMark, ScanRange
from horae.store.schedules import cursors
from horae.store.schedules.cursors import FireRow
from horae.store.tx import Tx

BATCH, WORKERS = 100, 8
LATER = timedelta(days=1)
DONE = InstanceEnd(State.SUCCESS, 0)
TARGET = HttpTarget(f"http://127.0.0.1:{TARGET_PORT}/", signing="bench")
JOB = Job(
    shard=0,
    id=UUID(int=1),
    tenant_id=UUID(TENANT),
    name="bare",
    version=1,
    status=Status.ACTIVE,
    definition=Definition(trigger=ManualTrigger(), target=TARGET),
)


class Pusher:
    """One connection that fires, sends and ends what is due in its shards."""

    def __init__(self, number: int, sender: Sender) -> None:
        self.run = Run(SHARDS * number // WORKERS, SHARDS * (number + 1) // WORKERS - 1)
        self.sender = sender
        self.owner = new_token()
        self.mark = ScanMark(Priority.NORMAL, Lane.FIRST)
        self.fires = 0

    async def work(self, dsn: str, until: float) -> None:
        """Batch after batch until the wall clock says stop."""
        connection = await asyncpg.connect(dsn, server_settings=SESSION)
        await use_json(connection)
        while time.time() < until:
            tx = Tx(connection, datetime.now(UTC))
            found = await cursors.due(tx, self.run, ScanRange(tx.now, limit=BATCH), [self.mark])
            if not found:
                await asyncio.sleep(0.01)
                continue
            self.mark = self.mark.at_timer(found[-1])
            mark = new_token()
            fires = [
                FireRow(at.shard, at.id, at.version, at.at, at.at + LATER, new_id(at.shard, tx.now),
                     idempotency_keys.recurring_key(at.id, at.at), at.at, mark, 13_000)
                for at in sorted(found)
            ]  # fmt: skip
            born = await cursors.fire(tx, Priority.NORMAL, fires, self.owner)
            sent = await self._send([_ran(fire) for fire in fires if fire.id in born])
            endings = [
                EndRow(ran, DONE, Attempt(1, one.status, None, one.duration_ms, one.answer), 2) for ran, one in sent
            ]
            self.fires += len(await instances.end(Tx(connection, datetime.now(UTC)), endings))
        await connection.close()

    async def _send(self, runs: list[Instance]) -> list[tuple[Instance, Delivery]]:
        done: list[tuple[Instance, Delivery]] = []
        over = asyncio.Event()

        def landed(ran: Instance, one: Delivery) -> None:
            done.append((ran, one))
            if len(done) == len(runs):
                over.set()

        for ran in runs:
            self.sender.push(ran, JOB, lambda one, ran=ran: landed(ran, one))
        await over.wait()
        return done


def _ran(fire: FireRow) -> Instance:
    return Instance(
        shard=fire.shard, id=fire.id, tenant_id=UUID(TENANT), job_id=fire.job_id, job_version=1, idem_key=fire.idem_key,
        fire_time=fire.fire_time, due_at=fire.due_at, state=State.RUNNING, attempt=1, token=fire.token,
    )  # fmt: skip


async def main(dsn: str, until: float) -> None:
    """Push until a time, and say how many."""
    client = Client(LOCAL)
    sender = Sender(client, secrets_in_memory({UUID(TENANT): {"bench": SECRET}}))
    pushers = [Pusher(number, sender) for number in range(WORKERS)]
    await asyncio.gather(*(pusher.work(dsn, until) for pusher in pushers))
    await client.close()
    print(json.dumps({"fires": sum(pusher.fires for pusher in pushers)}))


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], float(sys.argv[2])))
