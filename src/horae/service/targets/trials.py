"""Test requests of many tenants from one process. Each follows the egress rules of its tenant."""

from typing import Any
from uuid import UUID

from horae.delivery.push import Sender
from horae.domain.ids import shard_in
from horae.domain.jobs.jobs import Job
from horae.domain.targets.egress import Egress
from horae.domain.targets.targets import secrets_of
from horae.domain.tenants.tenants import Allowance
from horae.repositories.secret_book import SecretBook
from horae.service.context import Context
from horae.service.encryption.encryption import decrypt_job
from horae.service.targets.targets import TrialResult, try_target


class Trials:
    """The test requests of one process, with the client and the secrets of `sender`."""

    def __init__(self, sender: Sender) -> None:
        self._egress: dict[UUID, Egress | None] = {}
        self.sender = Sender(sender.client, sender.secrets, sender.wall, egress_of=self._egress.__getitem__)

    async def run(self, ctx: Context, allowance: Allowance, job: Job, payload: Any) -> TrialResult:
        """Call a job's target once. Nothing fires and nothing is written."""
        self._egress[ctx.tenant.id] = allowance.egress
        job = await decrypt_job(ctx, job)
        if isinstance(self.sender.secrets, SecretBook) and (names := secrets_of(job.definition.target)):
            await self.sender.secrets.learn(ctx.store.cell(shard_in(ctx.tenant.id)), {ctx.tenant.id: names}, force=True)
        return await try_target(self.sender, job, ctx.now(job.shard), payload)

    async def close(self) -> None:
        """Close the connections to targets."""
        await self.sender.client.close()
