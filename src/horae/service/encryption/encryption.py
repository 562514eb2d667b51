"""Encrypts values before they are stored, and decrypts them for a caller who may read them."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from msgspec.structs import replace

from horae.domain.encryption import confidential
from horae.domain.encryption.encrypted_values import (
    EncryptedValue,
    Spot,
    UndecryptableValue,
    answer_of,
    definition_of,
    payload_of,
    progress_of,
    read,
    undecryptable_code,
)
from horae.domain.errors import KeysUnavailable, Unopenable
from horae.domain.instances.dead_letters import DeadLetter
from horae.domain.instances.lifecycle import State
from horae.domain.jobs.jobs import Definition, Job
from horae.domain.tasks.tasks import Intent
from horae.security.envelopes import DataKey
from horae.security.payload_cipher import encrypt_value
from horae.service.context import Context
from horae.store.instances.history import InstanceRecord
from horae.store.jobs.versions import Version


async def key_for(ctx: Context, definition: Definition) -> DataKey | None:
    """Returns the data key for a definition; None, without a read, where the definition has nothing to encrypt."""
    steps = () if definition.graph_plan is None else definition.graph_plan.steps
    private = any(map(confidential.private_parts, (definition, *(step.definition for step in steps))))
    return await ctx.store.cipher.key(ctx.tenant.id) if private else None


def encrypt_definition(key: DataKey | None, job_id: UUID, definition: Definition) -> Definition:
    """Returns a definition as it is stored. An encrypted one stays as it is."""
    private = confidential.private_parts(definition)
    if key is None or not private or definition.sealed is not None:
        return definition
    return confidential.without_private_parts(definition, key.encrypt(definition_of(job_id), private))


async def decrypt_job(ctx: Context, job: Job) -> Job:
    """Returns a job with its decrypted definition."""
    encrypted = job.definition.sealed
    if encrypted is None:
        return job
    private = await ctx.store.cipher.decrypt(ctx.tenant.id, definition_of(job.id), encrypted)
    return replace(job, definition=confidential.with_private_parts(job.definition, private))


async def decrypt_or_mark(ctx: Context, spot: Spot, value: Any) -> Any:
    """Decrypts a value for a reader. On failure it returns an `UndecryptableValue`, so that the rest stays readable."""
    try:
        return await ctx.store.cipher.decrypt(ctx.tenant.id, spot, value)
    except (KeysUnavailable, Unopenable) as error:
        return UndecryptableValue("", error.code)


async def decrypt_job_or_mark(ctx: Context, job: Job) -> Job:
    """The same for lists and for the answer to a change: what cannot be decrypted is left out and marked."""
    encrypted = job.definition.sealed
    if encrypted is None or job.is_unreadable:
        return job
    private = await decrypt_or_mark(ctx, definition_of(job.id), encrypted)
    if isinstance(private, UndecryptableValue):
        return replace(job, definition=replace(job.definition, sealed=private))
    return replace(job, definition=confidential.with_private_parts(job.definition, private))


async def decrypt_version(ctx: Context, job: Job, definition: dict[str, Any]) -> dict[str, Any]:
    """Returns a stored definition with its decrypted parts."""
    if "sealed" not in definition:
        return definition
    private = await ctx.store.cipher.decrypt(ctx.tenant.id, definition_of(job.id), read(definition["sealed"]))
    return confidential.document_with_private_parts(definition, private)


async def decrypt_version_or_mark(ctx: Context, job: Job, version: Version) -> Version:
    """The same for lists: what cannot be decrypted is left out and marked."""
    try:
        return version._replace(definition=await decrypt_version(ctx, job, version.definition))
    except (KeysUnavailable, Unopenable) as error:
        kept = {name: value for name, value in version.definition.items() if name != "sealed"}
        return version._replace(definition=kept, unreadable=error.code)


def encrypt_intent(key: DataKey | None, job_id: UUID, idem_key: str, intent: Intent) -> Intent:
    """Returns an intent as its row stores it: with an encrypted payload."""
    payload = encrypt_value(key, payload_of(job_id, idem_key), intent.payload)
    return intent if payload is intent.payload else replace(intent, payload=payload)


async def decrypt_record(ctx: Context, past: InstanceRecord) -> InstanceRecord:
    """Returns an instance with its decrypted payload and answers. What cannot be decrypted is left out and marked."""
    payload = await decrypt_or_mark(ctx, payload_of(past.job_id, past.idem_key), past.payload)
    answers = [await _decrypt_answer(ctx, past, attempt) for attempt in past.attempts or ()]
    unreadable = next((code for value in (payload, *answers) if (code := undecryptable_code(value))), None)
    attempts = past.attempts and [
        attempt if answer is None else {**attempt, "answer": _or_none(answer)}
        for attempt, answer in zip(past.attempts, answers, strict=True)
    ]
    progress = await _decrypt_progress(ctx, past)
    return past._replace(payload=_or_none(payload), attempts=attempts, progress=progress, unreadable=unreadable)


async def _decrypt_progress(ctx: Context, past: InstanceRecord) -> Any:
    """Returns how far the running attempt is, with its text decrypted; None where its worker has not said it."""
    said = past.progress
    if not isinstance(said, dict) or said.get("attempt") != past.attempt or past.state != State.RUNNING:
        return None
    return {**said, "text": _or_none(await decrypt_or_mark(ctx, progress_of(past.id), read(said.get("text"))))}


async def decrypt_dead_letter(ctx: Context, dead_letter: DeadLetter) -> DeadLetter:
    """Returns a dead letter with its decrypted payload. A payload that cannot be decrypted is left out and marked."""
    payload = await decrypt_or_mark(ctx, payload_of(dead_letter.job_id, dead_letter.idem_key), dead_letter.payload)
    if payload is dead_letter.payload:
        return dead_letter
    return replace(dead_letter, payload=_or_none(payload), unreadable=undecryptable_code(payload))


async def _decrypt_answer(ctx: Context, past: InstanceRecord, attempt: Mapping[str, Any]) -> Any:
    """Returns the decrypted answer to an attempt; None where it was not encrypted."""
    answer = read(attempt.get("answer"))
    if not isinstance(answer, EncryptedValue):
        return None
    return await decrypt_or_mark(ctx, answer_of(past.job_id, past.idem_key), answer)


def _or_none(value: Any) -> Any:
    return None if isinstance(value, UndecryptableValue) else value
