"""Idempotency keys: what a receiver sees unchanged over every attempt of one intended effect.

Readable on purpose, so that a key found in a business table leads back to its job and time. The part after the
job starts with digits (a fire time) or with a letter that says which birth it was, hence no two births collide.
"""

from datetime import datetime
from functools import lru_cache
from uuid import UUID

from horae.domain.ids import letters


def recurring(job_id: UUID, fire_time: datetime, rerun: UUID | None = None) -> str:
    """A cron, interval or backfill fire: job and fire time; a deliberate re-run adds its backfill."""
    key = f"{_job(job_id)}:{_seconds(fire_time)}"
    return key if rerun is None else f"{key}:{letters(rerun)}"


def task(job: UUID | str, business_key: str, generation: int) -> str:
    """A task, once or delay: job, business key and generation. A replaced task keeps its generation.

    The job may be given by its letters, where many keys of one job are made.
    """
    return f"{job if isinstance(job, str) else letters(job)}:t:{business_key}:{generation}"


def manual(job_id: UUID, idempotency_key: str) -> str:
    """A manual trigger: job and the caller's Idempotency-Key."""
    return f"{letters(job_id)}:m:{idempotency_key}"


def rolling(job_id: UUID, subject: str, tick: datetime) -> str:
    """A refresh of one subject: job, subject and the tick that took it."""
    return f"{letters(job_id)}:r:{subject}:{_seconds(tick)}"


_job = lru_cache(maxsize=50_000)(letters)  # the same jobs fire again and again


def _seconds(at: datetime) -> str:
    whole = int(at.timestamp())
    return str(whole) if not at.microsecond else f"{whole}.{at.microsecond:06d}".rstrip("0")
