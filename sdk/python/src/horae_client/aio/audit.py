"""The audit log: who did what, and when."""

from collections.abc import Sequence
from datetime import date, datetime

from horae_client.aio.verbs import AsyncItems, AsyncVerbs
from horae_client.asked import audit as asked
from horae_client.models import AuditChain, AuditEntry, Certificate, CertifiedDays


class AsyncAuditLog(AsyncVerbs):
    """The audit log of the tenant, and the hash chains that show whether it was changed."""

    def list(
        self,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        actor: str | None = None,
        action: str | None = None,
        resource: str | None = None,
        limit: int | None = None,
    ) -> AsyncItems[AuditEntry]:
        """List the entries of the audit log, newest first. An action is, for example, `job.paused`.

        >>> paused = await client.jobs.pause("coupon_job")
        >>> [one.resource == paused.id async for one in client.audit.list(action="job.paused")]
        [True]
        """
        return self._pages(asked.entries(since, until, actor, action, resource), limit)

    async def certificate(self, day: date) -> Certificate:
        """Get the certificate of a day in UTC. `horae certificate` makes it.

        >>> from datetime import date
        >>> await client.audit.certificate(date(2026, 11, 17))
        Traceback (most recent call last):
        NotFound: SCH_404_NOT_FOUND: 2026-11-17 has no certificate; `horae certificate --day 2026-11-17` makes one
        """
        return await self._ask(asked.certificate(day))

    async def certificates(self, since: date, until: date) -> CertifiedDays:
        """List the certified days from `since` to `until` (excluded), at most 366, with their totals.

        >>> from datetime import date
        >>> november = await client.audit.certificates(date(2026, 11, 1), date(2026, 12, 1))
        >>> november.days
        []
        """
        return await self._ask(asked.certificates(since, until))

    async def chains(self) -> Sequence[AuditChain]:
        """Get the head of each cell's hash chain. `horae audit verify` checks the whole chain.

        >>> chains = await platform.audit.chains()
        >>> sorted(one.cell for one in chains)
        ['cell-0', 'cell-1']
        """
        return await self._ask(asked.chains())
