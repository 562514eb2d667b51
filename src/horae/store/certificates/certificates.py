"""Certificates of tenants' days. A row is written once, and never changed."""

from datetime import date, datetime
from typing import NamedTuple
from uuid import UUID

import msgspec

from horae.domain.certificates.certificates import CertifiedDay
from horae.domain.certificates.results import DayCounts
from horae.domain.ids import shard_in
from horae.store.statements import sql
from horae.store.tx import Tx


class StoredCertificate(NamedTuple):
    """A certificate as it is stored, without its evidence. `body` is what was signed."""

    day: date
    revision: int
    made_at: datetime
    audit_id: UUID
    key_id: str
    digest: bytes
    signature: bytes
    body: str


async def create(tx: Tx, tenant_id: UUID, made: StoredCertificate, evidence: bytes) -> bool:
    """Write a certificate with its compressed evidence; False when its revision exists, or its shard is closed."""
    found = await tx.value(
        sql("certificates/certificates/create"),
        shard_in(tenant_id),
        tenant_id,
        made.day,
        made.revision,
        tx.now,
        made.audit_id,
        made.key_id,
        made.digest,
        made.signature,
        made.body,
        evidence,
    )
    return found is not None


async def find(tx: Tx, tenant_id: UUID, day: date, revision: int | None = None) -> StoredCertificate | None:
    """The certificate of a day: one revision, or the newest."""
    row = await tx.row(sql("certificates/certificates/find"), shard_in(tenant_id), tenant_id, day, revision)
    return None if row is None else StoredCertificate(*row)


async def days(tx: Tx, tenant_id: UUID, since: date, until: date) -> list[CertifiedDay]:
    """The certified days from `since` to `until` (excluded), in order. Jobs and evidence are not read."""
    rows = await tx.rows(sql("certificates/certificates/days"), shard_in(tenant_id), tenant_id, since, until)
    return [
        CertifiedDay(day, revision, made_at, _total(total), findings)
        for day, revision, made_at, total, findings in rows
    ]


async def evidence(tx: Tx, tenant_id: UUID, day: date, revision: int) -> bytes | None:
    """The compressed evidence of a certificate."""
    found: bytes | None = await tx.value(
        sql("certificates/certificates/evidence"), shard_in(tenant_id), tenant_id, day, revision
    )
    return found


def _total(text: str) -> DayCounts:
    return msgspec.json.decode(text, type=DayCounts)
