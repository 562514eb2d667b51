"""A world for alerts: a real receiver of webhooks, and the two duties of a node over the cells of the test."""

import asyncio
import hmac
from base64 import b64decode, b64encode
from contextlib import asynccontextmanager
from hashlib import sha256
from uuid import UUID

import msgspec

from horae.delivery.alert_channels.sender import AlertSender
from horae.delivery.client import Client
from horae.delivery.secrets import secrets_in_memory
from horae.domain.alerts.channels import WebhookChannel
from horae.domain.instances.outcomes import ErrorCode, Outcome, Unrecoverable
from horae.domain.jobs.jobs import Job
from horae.domain.tenants.tenants import SYSTEM
from horae.service.alerts import channels
from horae.service.context import Context, PlatformContext
from horae.service.tenants import tenants
from horae.store.store import Store
from horae.upkeep.alert_delivery import AlertDeliverer
from horae.upkeep.alert_watch import AlertWatcher
from horae.upkeep.copies import Copier
from tests.egress import ANYWHERE
from tests.steps import Looker, below_horizon, claim_everywhere, move_clock, query, settle

SECRET = "whsec_" + b64encode(b"canary-of-the-alert-tests-4f1b9c").decode()


class Hook:
    """A receiver of signed webhooks. It refuses a wrong signature, and everything while it is `down`."""

    def __init__(self):
        self.got, self.tried, self.down, self.url, self.hangs = [], 0, False, "", False
        self.on_message = lambda _message: None

    async def visited(self, reader, writer):
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        headers = dict(line.split(": ", 1) for line in head.lower().split("\r\n")[1:] if ": " in line)
        body = await reader.readexactly(int(headers["content-length"]))
        self.tried += 1
        if self.hangs:
            await reader.read()  # until the sender gives up
            writer.close()
            return
        status = 503 if self.down else 200 if self._is_signed(head, body) else 401
        if status == 200:
            self.got.append(msgspec.json.decode(body)["data"])
            self.on_message(self.got[-1])
        writer.write(f"HTTP/1.1 {status} x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".encode())
        await writer.drain()
        writer.close()

    @staticmethod
    def _is_signed(head, body):
        lines = {name.lower(): value for name, _, value in (line.partition(": ") for line in head.split("\r\n"))}
        signed = b".".join([lines["webhook-id"].encode(), lines["webhook-timestamp"].encode(), body])
        mine = b64encode(hmac.new(b64decode(SECRET.removeprefix("whsec_")), signed, sha256).digest()).decode()
        return f"v1,{mine}" in lines["webhook-signature"].split(" ")


@asynccontextmanager
async def hook_server():
    hook = Hook()
    server = await asyncio.start_server(hook.visited, "127.0.0.1", 0)
    hook.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/alerts"
    yield hook
    server.close()


class AlertWorld:
    """Both duties, as the node that holds the first shard of every cell runs them."""

    def __init__(self, store: Store, sender: AlertSender):
        self.store = store
        self.watcher = AlertWatcher(store, lambda _cell: True)
        self.deliverer = AlertDeliverer(store, lambda _cell: True, sender)

    async def watch(self):
        """Evaluate everything that was written so far."""
        await below_horizon(self.store)
        while await self.watcher.once():
            pass

    async def deliver(self):
        while await self.deliverer.once() + await self.deliverer.finish():
            pass

    async def round(self, **later):
        """Move the clock, evaluate, send."""
        if later:
            await move_clock(self.store, **later)
        await self.watch()
        await self.deliver()


@asynccontextmanager
async def alert_world(store: Store, *tenant_ids: UUID):
    async def learn(_tenant_id, _name):
        pass

    client = Client(ANYWHERE)
    secrets = secrets_in_memory({tenant_id: {"hook": SECRET} for tenant_id in tenant_ids})
    world = AlertWorld(store, AlertSender(client, secrets, learn))
    yield world
    await world.deliverer.close()
    await client.close()


async def the_system(store: Store) -> Context:
    """The tenant of the platform."""
    return Context.of(store, await tenants.create(PlatformContext(store, "test"), SYSTEM), "test")


async def a_channel(ctx: Context, hook: Hook, name: str = "default"):
    """A channel to the receiver, known in every cell."""
    await channels.put_channel(ctx, name, WebhookChannel(url=hook.url, signing="hook"))
    await Copier(ctx.store).once()


async def alerts_of(store: Store, kind: str | None = None):
    """The rows of alerts, over both cells."""
    text = "select * from alert where $1::text is null or kind = $1 order by opened_at, id"
    return await query(store, text, kind)


FAILED = Unrecoverable(ErrorCode.HTTP_4XX, "404 from a target that must stay unnamed: canary-of-the-answer")
DEATHS = """
insert into instance_history (ended_at, fire_time, due_at, job_version, attempt, retry_count, shard_id, priority, lane,
    id, tenant_id, job_id, state, idem_key, error_code, error_msg)
select $4, $4, $4, 1, 6, 6, $1, 1, 0, gen_random_uuid(), $2, $3, 'DEAD', 'key-' || n, 'HTTP_5XX', 'HTTP 500'
from generate_series(1, $5) as n
"""
"""What the engine writes when instances die, many at a time."""


async def run_once(ctx: Context, outcome: Outcome, **later):
    """Let the clock go on, fire what is due, and end every attempt in the same way."""
    store = ctx.store
    await move_clock(store, **(later or {"seconds": 60}))
    for cell in store.cells:
        await Looker(store, cell).once()
    ran = await claim_everywhere(store)
    for one in ran:
        await settle(store, one, outcome)
    return len(ran)


async def die(ctx: Context, job: Job, many: int):
    """Many instances of a job die at once."""
    cell = ctx.store.cell(job.shard)
    await query(cell, DEATHS, job.shard, ctx.tenant.id, job.id, cell.clock.now(), many)
