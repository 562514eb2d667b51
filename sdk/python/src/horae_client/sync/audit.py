"""The audit log: who did what, and when."""

from collections.abc import Sequence
from datetime import datetime

from horae_client.asked import audit as asked
from horae_client.models import AuditChain, AuditEntry
from horae_client.sync.verbs import Items, Verbs


class AuditLog(Verbs):
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
    ) -> Items[AuditEntry]:
        """List the entries of the audit log, newest first. An action is, for example, `job.paused`.

        >>> paused = client.jobs.pause("coupon_job")
        >>> [one.resource == paused.id for one in client.audit.list(action="job.paused")]
        [True]
        """
        return self._pages(asked.entries(since, until, actor, action, resource), limit)

    def chains(self) -> Sequence[AuditChain]:
        """Get the head of each cell's hash chain. `horae audit verify` checks the whole chain.

        >>> chains = platform.audit.chains()
        >>> sorted(one.cell for one in chains)
        ['cell-0', 'cell-1']
        """
        return self._ask(asked.chains())
