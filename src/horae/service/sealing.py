"""Sealed on the way into rows, opened on the way to someone who may read: for the verbs of people and workers."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from msgspec.structs import replace

from horae.domain import confidential
from horae.domain.dead_letters import Letter
from horae.domain.errors import KeysUnavailable
from horae.domain.jobs import Definition, Job
from horae.domain.sealed import answer_of, definition_of, payload_of, read
from horae.domain.tasks import Intent
from horae.security.envelopes import DataKey
from horae.security.sealing import Sealing, seal
from horae.service.context import Context
from horae.store.history import Past


async def key_for(ctx: Context, definition: Definition) -> DataKey | None:
    """What a definition is sealed with; it is not asked for where there is nothing to seal."""
    return await ctx.store.sealing.key(ctx.tenant.id) if confidential.parts(definition) else None


def closed(key: DataKey | None, job_id: UUID, definition: Definition) -> Definition:
    """A definition as it is stored. One that is sealed already stays as it is."""
    told = confidential.parts(definition)
    if key is None or not told or definition.sealed is not None:
        return definition
    return confidential.stripped(definition, key.seal(definition_of(job_id), told))


async def shown(ctx: Context, job: Job) -> Job:
    """A job with everything that its definition says."""
    sealed = job.definition.sealed
    if sealed is None:
        return job
    told = await ctx.store.sealing.open(ctx.tenant.id, definition_of(job.id), sealed)
    return replace(job, definition=confidential.whole(job.definition, told))


async def shown_or_not(ctx: Context, job: Job) -> Job:
    """The same for the answer to a change: what cannot be opened now is left out, and the change is made."""
    try:
        return await shown(ctx, job)
    except KeysUnavailable:
        return replace(job, definition=replace(job.definition, sealed=None))


async def shown_version(ctx: Context, job: Job, definition: dict[str, Any]) -> dict[str, Any]:
    """A stored definition with everything that it says."""
    if "sealed" not in definition:
        return definition
    told = await ctx.store.sealing.open(ctx.tenant.id, definition_of(job.id), read(definition["sealed"]))
    return confidential.whole_document(definition, told)


def sealed_intent(key: DataKey | None, job_id: UUID, idem_key: str, intent: Intent) -> Intent:
    """An intent as its row holds it."""
    payload = seal(key, payload_of(job_id, idem_key), intent.payload)
    return intent if payload is intent.payload else replace(intent, payload=payload)


async def shown_past(ctx: Context, past: Past) -> Past:
    """An instance with its payload and what was answered."""
    sealing, tenant_id = ctx.store.sealing, ctx.tenant.id
    payload = await sealing.open(tenant_id, payload_of(past.job_id, past.idem_key), past.payload)
    attempts = past.attempts and [await _answered(sealing, tenant_id, past, one) for one in past.attempts]
    return past._replace(payload=payload, attempts=attempts)


async def shown_letter(ctx: Context, letter: Letter) -> Letter:
    """A dead letter with its payload."""
    spot = payload_of(letter.job_id, letter.idem_key)
    payload = await ctx.store.sealing.open(ctx.tenant.id, spot, letter.payload)
    return letter if payload is letter.payload else replace(letter, payload=payload)


async def _answered(sealing: Sealing, tenant_id: UUID, past: Past, attempt: Mapping[str, Any]) -> Mapping[str, Any]:
    answer = attempt.get("answer")
    if type(answer) is not dict:
        return attempt
    spot = answer_of(past.job_id, past.idem_key)
    return {**attempt, "answer": await sealing.open(tenant_id, spot, read(answer))}
