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
from horae.delivery.push import Delivered, Sender
from horae.delivery.secrets import named
from horae.domain import keys
from horae.domain.instances import Instance, Lane, Priority
from horae.domain.jobs import Definition, Job, Status
from horae.domain.lifecycle import State
from horae.domain.outcomes import Ended
from horae.domain.placement import SHARDS, Run
from horae.domain.targets import HttpTarget
from horae.domain.triggers import ManualTrigger
from horae.runtime.chance import mint, token
from horae.store import cursors, instances
from horae.store.cells import SESSION, speak_json
from horae.store.cursors import Fire
from horae.store.instances import Attempt, Ending
from horae.store.looks import Look, Mark
from horae.store.tx import Tx

BATCH, WORKERS = 100, 8
LATER = timedelta(days=1)
DONE = Ended(State.SUCCESS, 0)
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
        self.owner = token()
        self.mark = Mark(Priority.NORMAL, Lane.FIRST)
        self.fires = 0

    async def work(self, dsn: str, until: float) -> None:
        """Batch after batch until the wall clock says stop."""
        connection = await asyncpg.connect(dsn, server_settings=SESSION)
        await speak_json(connection)
        while time.time() < until:
            tx = Tx(connection, datetime.now(UTC))
            found = await cursors.due(tx, self.run, Look(tx.now, limit=BATCH), [self.mark])
            if not found:
                await asyncio.sleep(0.01)
                continue
            self.mark = self.mark.at_timer(found[-1])
            mark = token()
            fires = [
                Fire(at.shard, at.id, at.version, at.at, at.at + LATER, mint(at.shard, tx.now),
                     keys.recurring(at.id, at.at), at.at, mark, 13_000)
                for at in sorted(found)
            ]  # fmt: skip
            born = await cursors.fire(tx, Priority.NORMAL, fires, self.owner)
            sent = await self._send([_ran(fire) for fire in fires if fire.id in born])
            endings = [
                Ending(ran, DONE, Attempt(1, one.status, None, one.duration_ms, one.answer), 2) for ran, one in sent
            ]
            self.fires += len(await instances.end(Tx(connection, datetime.now(UTC)), endings))
        await connection.close()

    async def _send(self, runs: list[Instance]) -> list[tuple[Instance, Delivered]]:
        done: list[tuple[Instance, Delivered]] = []
        over = asyncio.Event()

        def landed(ran: Instance, one: Delivered) -> None:
            done.append((ran, one))
            if len(done) == len(runs):
                over.set()

        for ran in runs:
            self.sender.push(ran, JOB, lambda one, ran=ran: landed(ran, one))
        await over.wait()
        return done


def _ran(fire: Fire) -> Instance:
    return Instance(
        shard=fire.shard, id=fire.id, tenant_id=UUID(TENANT), job_id=fire.job_id, job_version=1, idem_key=fire.idem_key,
        fire_time=fire.fire_time, due_at=fire.due_at, state=State.RUNNING, attempt=1, token=fire.token,
    )  # fmt: skip


async def main(dsn: str, until: float) -> None:
    """Push until a time, and say how many."""
    client = Client(LOCAL)
    sender = Sender(client, named({UUID(TENANT): {"bench": SECRET}}))
    pushers = [Pusher(number, sender) for number in range(WORKERS)]
    await asyncio.gather(*(pusher.work(dsn, until) for pusher in pushers))
    await client.close()
    print(json.dumps({"fires": sum(pusher.fires for pusher in pushers)}))


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], float(sys.argv[2])))
