"""What a certificate reads beyond an audit of fires: rows with the delays of first attempts, events of a tenant."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from horae.domain.certificates.evidence import EvidenceRow
from horae.store.audit.fires import HistoryEvent
from horae.store.statements import sql
from horae.store.tx import Tx


async def rows(
    tx: Tx, job_ids: Sequence[UUID], since: datetime, until: datetime, ended_since: datetime
) -> dict[UUID, list[EvidenceRow]]:
    """The rows of these jobs in this cell with fire times from `since` to `until`, live and ended."""
    found: defaultdict[UUID, list[EvidenceRow]] = defaultdict(list)
    for row in await tx.rows(sql("certificates/evidence/rows"), job_ids, since, until, ended_since):
        columns = dict(row)
        found[columns.pop("job_id")].append(EvidenceRow(**columns))
    return found


async def events(tx: Tx, tenant_id: UUID, actions: Collection[str]) -> list[HistoryEvent]:
    """The audit rows of a tenant in this cell with these actions, oldest first."""
    args = (tenant_id, list(actions))
    return [HistoryEvent(*row) for row in await tx.rows(sql("certificates/evidence/events"), *args)]
