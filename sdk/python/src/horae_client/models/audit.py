"""The audit log and its hash chains."""

from datetime import datetime
from typing import Any

from horae_client.models.base import Model


class AuditEntry(Model, frozen=True, kw_only=True):
    """One entry of the audit log: who did what to which resource, and when."""

    at: datetime
    actor: str
    action: str
    resource: str
    detail: Any = None


class AuditChain(Model, frozen=True, kw_only=True):
    """The head of a cell's hash chain. `block` is how many blocks it has, `dropped` the last one that was deleted."""

    cell: str
    block: int
    dropped: int
    hash: str | None = None
    chained_at: datetime | None = None
    rows: int | None = None
