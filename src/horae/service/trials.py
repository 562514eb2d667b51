"""Test requests from a process that serves many tenants: each goes only where its tenant's calls may go."""

from typing import Any
from uuid import UUID

from horae.delivery.push import Sender
from horae.domain.egress import Egress
from horae.domain.ids import shard_in
from horae.domain.jobs import Job
from horae.domain.targets import secrets_of
from horae.domain.tenants import Allowance
from horae.service.context import Context
from horae.service.sealing import shown
from horae.service.targets import Tried, try_target
from horae.store.secret_book import SecretBook


class Trials:
    """One per process, around the sender of its test requests."""

    def __init__(self, sender: Sender) -> None:
        self.sender = sender
        self._egress: dict[UUID, Egress | None] = {}
        sender.egress_of = self._egress.__getitem__

    async def run(self, ctx: Context, allowance: Allowance, job: Job, payload: Any) -> Tried:
        """Call a job's target once; nothing fires and nothing is written."""
        self._egress[ctx.tenant.id] = allowance.egress
        job = await shown(ctx, job)
        if isinstance(self.sender.secrets, SecretBook) and (names := secrets_of(job.definition.target)):
            await self.sender.secrets.learn(ctx.store.cell(shard_in(ctx.tenant.id)), {ctx.tenant.id: names}, anew=True)
        return await try_target(self.sender, job, ctx.store.cell(job.shard).clock.now(), payload)

    async def close(self) -> None:
        """Hang up."""
        await self.sender.client.close()
