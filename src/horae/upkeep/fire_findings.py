"""Records what the audit of fires found in a cell: a row, an event and a log line when a finding begins and ends."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from horae.domain.events.events import Event
from horae.domain.fire_audit.findings import FireFault, FireFinding
from horae.domain.ids import shard_in
from horae.runtime.telemetry import log
from horae.store.audit import findings
from horae.store.audit.findings import FindingKey
from horae.store.events import outbox
from horae.store.events.outbox import OutboxRow
from horae.store.tx import Tx

MOST_FINDINGS: Final = 1000
"""Findings that one round records in a cell. So many have one cause, and the first ones name it."""


async def record(tx: Tx, found: Sequence[FireFinding]) -> list[FireFinding]:
    """Record findings; returns those that were not open before.

    A cursor that stands still is one finding, however many fires it has missed since.
    """
    chosen = found[:MOST_FINDINGS]
    if not chosen:
        return []
    jobs = sorted({(shard_in(one.job_id), one.job_id) for one in chosen})
    known = {one.key for one in await findings.open_of(tx, jobs)}
    still = {key.job_id: key for key in known if key.fault == FireFault.STANDS_STILL}
    keyed = {_key(one, still): one for one in chosen}
    written = {one.key for one in await findings.record(tx, sorted(keyed.items(), key=lambda item: item[0]))}
    fresh = [(key, one) for key, one in keyed.items() if key in written and key not in known]
    if fresh:
        await outbox.append_many(
            tx,
            Event.FIRE_FAULT_FOUND,
            [OutboxRow(key.shard, one.tenant_id, one.job_id, one.instance_id, _body(one)) for key, one in fresh],
        )
    return [one for _, one in fresh]


async def end(tx: Tx, over: Sequence[FindingKey]) -> int:
    """End findings that are not found any more; returns how many there were."""
    ended = await findings.end_all(tx, over) if over else []
    if ended:
        bodies = [{"fault": one.key.fault, "fire_time": one.key.fire_time, "found_at": one.found_at} for one in ended]
        rows = [
            OutboxRow(one.key.shard, one.tenant_id, one.key.job_id, None, body)
            for one, body in zip(ended, bodies, strict=True)
        ]
        await outbox.append_many(tx, Event.FIRE_FAULT_ENDED, rows)
    return len(ended)


def report(cell: str, fresh: Sequence[FireFinding]) -> None:
    """Log findings, after they are committed."""
    for one in fresh:
        log.error(
            "audit.fire_fault", cell=cell, fault=one.fault, job=one.job_id, name=one.job, at=one.at, said=one.said
        )


def _key(one: FireFinding, still: dict[UUID, FindingKey]) -> FindingKey:
    if one.fault is FireFault.STANDS_STILL and one.job_id in still:
        return still[one.job_id]
    return FindingKey(shard_in(one.job_id), one.job_id, one.at, one.fault)


def _body(one: FireFinding) -> dict[str, object]:
    return {"name": one.job, "fault": one.fault, "fire_time": one.at, "fires": one.fires, "said": one.said}
