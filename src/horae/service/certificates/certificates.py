"""Certificates: make the one of a day, or return the stored one."""

import zlib
from datetime import date, timedelta
from typing import Final, NamedTuple

import msgspec

from horae.archive.targets import ArchiveTarget
from horae.domain.certificates.canonical import canonical, digest_of
from horae.domain.certificates.certificates import (
    CertifiedDay,
    CountedDay,
    DayCertificate,
    can_be_made_from,
    certify,
    count_day,
    newest_day,
)
from horae.domain.errors import Contended, Invalid, NotFound, TooLarge
from horae.domain.ids import shard_in
from horae.runtime.randomness import new_id
from horae.security.signing_keys import SigningKey
from horae.service.certificates.chain import close_block, record_digest
from horae.service.certificates.evidence import read_evidence
from horae.service.context import Context
from horae.store.certificates import certificates
from horae.store.certificates.certificates import StoredCertificate
from horae.store.tx import Tx

MOST_EVIDENCE_BYTES: Final = 256 * 1024 * 1024
"""Compressed evidence of one day: about five million fires."""
MOST_DAYS: Final = 366
"""Days of one list."""


class Certificate(NamedTuple):
    """A certificate as it is stored, and what it says."""

    stored: StoredCertificate
    content: DayCertificate


async def find(ctx: Context, day: date, revision: int | None = None) -> Certificate:
    """Return the certificate of a day: one revision, or the newest."""
    async with ctx.store.statement(shard_in(ctx.tenant.id)) as tx:
        stored = await certificates.find(tx, ctx.tenant.id, day, revision)
    if stored is None:
        raise NotFound(f"{day} has no certificate; `horae certificate --day {day}` makes one")
    return _read(stored)


class CertifiedDays(NamedTuple):
    """The certified days of a range. `newest` is the newest day that can have a certificate now."""

    newest: date
    days: list[CertifiedDay]


async def listing(ctx: Context, since: date, until: date) -> CertifiedDays:
    """Return the certified days from `since` to `until` (excluded), without jobs and evidence."""
    if not timedelta() < until - since <= timedelta(days=MOST_DAYS):
        raise Invalid(f"a range of certificates has 1 to {MOST_DAYS} days")
    async with ctx.store.statement(shard_in(ctx.tenant.id)) as tx:
        found = await certificates.days(tx, ctx.tenant.id, since, until)
    return CertifiedDays(newest_day(ctx.now()), found)


async def make(
    ctx: Context, key: SigningKey, day: date, *, again: bool = False, archive: ArchiveTarget | None = None
) -> Certificate:
    """Make the certificate of a day, or return the stored one. `again` makes the next revision.

    Rows that PostgreSQL has dropped are read from the archive.

    1. Read the evidence and count it. A day with a finding is read a second time: a job may have been changed between
       two statements. What is found again is part of the certificate.
    2. Sign the certificate, and store it with its evidence. Its digest is an audit row of the same transaction.
    3. Close the audit block before and after, so that the digest is in a block without rows of other tenants.
    """
    try:
        found = await find(ctx, day)
    except NotFound:
        found = None
    if found is not None and not again:
        return found
    if (first := can_be_made_from(day)) > ctx.now():
        raise Invalid(f"{day} is not over: its certificate can be made from {first:%Y-%m-%dT%H:%MZ} on")
    counted = await _count(ctx, day, archive)
    content, evidence = certify(counted, found.content.revision + 1 if found is not None else 1, key.id)
    return await _store(ctx, key, content, evidence)


async def _count(ctx: Context, day: date, archive: ArchiveTarget | None) -> CountedDay:
    counted = count_day(await read_evidence(ctx, day, archive))
    return count_day(await read_evidence(ctx, day, archive)) if counted.findings else counted


async def _store(ctx: Context, key: SigningKey, content: DayCertificate, evidence: bytes) -> Certificate:
    shard, body, compressed = shard_in(ctx.tenant.id), canonical(content), zlib.compress(evidence)
    if len(compressed) > MOST_EVIDENCE_BYTES:
        raise TooLarge(f"the evidence of {content.day} has {len(compressed)} bytes; {MOST_EVIDENCE_BYTES} are stored")
    stored = StoredCertificate(
        day=content.day,
        revision=content.revision,
        made_at=ctx.now(shard),
        audit_id=new_id(shard, ctx.now(shard)),
        key_id=key.id,
        digest=bytes.fromhex(digest_of(body)),
        signature=key.sign(body),
        body=body.decode(),
    )

    async def work(tx: Tx) -> None:
        if not await certificates.create(tx, ctx.tenant.id, stored, compressed):
            raise Contended(f"somebody else has just certified {content.day}, or its shard is moving")
        await record_digest(ctx, tx, stored, stored.audit_id)

    await close_block(ctx)
    await ctx.store.run(shard, work)
    await close_block(ctx)
    return Certificate(stored, content)


def _read(stored: StoredCertificate) -> Certificate:
    return Certificate(stored, msgspec.json.decode(stored.body, type=DayCertificate))
