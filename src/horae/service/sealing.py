"""Sealed on the way into rows, opened on the way to someone who may read: for the verbs of people and workers."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from msgspec.structs import replace

from horae.domain import confidential
from horae.domain.dead_letters import Letter
from horae.domain.errors import KeysUnavailable, Unopenable
from horae.domain.jobs import Definition, Job
from horae.domain.sealed import Sealed, Spot, Unopened, answer_of, definition_of, payload_of, read, unopened_code
from horae.domain.tasks import Intent
from horae.security.envelopes import DataKey
from horae.security.sealing import seal
from horae.service.context import Context
from horae.store.history import Past
from horae.store.versions import Version


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


async def open_or_mark(ctx: Context, spot: Spot, value: Any) -> Any:
    """A value for a reader. One that cannot be opened is `Unopened`: it must hide nothing but itself."""
    try:
        return await ctx.store.sealing.open(ctx.tenant.id, spot, value)
    except (KeysUnavailable, Unopenable) as error:
        return Unopened("", error.code)


async def shown_or_not(ctx: Context, job: Job) -> Job:
    """The same for lists, and for the answer to a change: what cannot be opened is left out, and marked."""
    sealed = job.definition.sealed
    if sealed is None:
        return job
    told = await open_or_mark(ctx, definition_of(job.id), sealed)
    if isinstance(told, Unopened):
        return replace(job, definition=replace(job.definition, sealed=told))
    return replace(job, definition=confidential.whole(job.definition, told))


async def shown_version(ctx: Context, job: Job, definition: dict[str, Any]) -> dict[str, Any]:
    """A stored definition with everything that it says."""
    if "sealed" not in definition:
        return definition
    told = await ctx.store.sealing.open(ctx.tenant.id, definition_of(job.id), read(definition["sealed"]))
    return confidential.whole_document(definition, told)


async def shown_version_or_not(ctx: Context, job: Job, version: Version) -> Version:
    """The same for lists: what cannot be opened is left out, and marked."""
    try:
        return version._replace(definition=await shown_version(ctx, job, version.definition))
    except (KeysUnavailable, Unopenable) as error:
        kept = {name: value for name, value in version.definition.items() if name != "sealed"}
        return version._replace(definition=kept, unreadable=error.code)


def sealed_intent(key: DataKey | None, job_id: UUID, idem_key: str, intent: Intent) -> Intent:
    """An intent as its row holds it."""
    payload = seal(key, payload_of(job_id, idem_key), intent.payload)
    return intent if payload is intent.payload else replace(intent, payload=payload)


async def shown_past(ctx: Context, past: Past) -> Past:
    """An instance with its payload and what was answered. What cannot be opened is left out, and marked."""
    payload = await open_or_mark(ctx, payload_of(past.job_id, past.idem_key), past.payload)
    answers = [await _answer(ctx, past, attempt) for attempt in past.attempts or ()]
    unreadable = next((code for value in (payload, *answers) if (code := unopened_code(value))), None)
    attempts = past.attempts and [
        attempt if answer is None else {**attempt, "answer": _or_none(answer)}
        for attempt, answer in zip(past.attempts, answers, strict=True)
    ]
    return past._replace(payload=_or_none(payload), attempts=attempts, unreadable=unreadable)


async def shown_letter(ctx: Context, letter: Letter) -> Letter:
    """A dead letter with its payload. One that cannot be opened is left out, and marked."""
    payload = await open_or_mark(ctx, payload_of(letter.job_id, letter.idem_key), letter.payload)
    if payload is letter.payload:
        return letter
    return replace(letter, payload=_or_none(payload), unreadable=unopened_code(payload))


async def _answer(ctx: Context, past: Past, attempt: Mapping[str, Any]) -> Any:
    """What was answered to an attempt, where that is sealed; None where it is not."""
    answer = read(attempt.get("answer"))
    if not isinstance(answer, Sealed):
        return None
    return await open_or_mark(ctx, answer_of(past.job_id, past.idem_key), answer)


def _or_none(value: Any) -> Any:
    return None if isinstance(value, Unopened) else value
