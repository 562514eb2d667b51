"""Idempotency keys: a receiver sees the same key in every attempt of one intended effect.

They are readable on purpose: a key in a business table leads back to its job and time. The part after the job starts
with digits (a fire time), or with a letter for the kind of instance, so two kinds never have the same key.
"""

from datetime import datetime
from functools import lru_cache
from typing import Final
from uuid import UUID

from horae.domain.ids import encode_id

LONGEST_IDEMPOTENCY_KEY: Final = 200
"""Characters of the Idempotency-Key of a request."""

CHILD_KEY_COLONS: Final = 4


def recurring_key(job_id: UUID, fire_time: datetime, rerun: UUID | None = None) -> str:
    """Return the key of a cron, interval or backfill fire: job and fire time. A re-run adds its backfill."""
    key = f"{_known(job_id)}:{_seconds(fire_time)}"
    return key if rerun is None else f"{key}:{encode_id(rerun)}"


def task_key(job: UUID | str, business_key: str, generation: int) -> str:
    """Return the key of a task, once or delay: job, business key and generation. A replaced task keeps its generation.

    The job may be given by its 26 characters, where many keys of one job are made.
    """
    return f"{job if isinstance(job, str) else encode_id(job)}:t:{business_key}:{generation}"


def manual_key(job_id: UUID, idempotency_key: str) -> str:
    """Return the key of a manual trigger: job and the caller's Idempotency-Key."""
    return f"{encode_id(job_id)}:m:{idempotency_key}"


def refresh_key(job_id: UUID, subject: str, tick: datetime) -> str:
    """Return the key of a refresh of one subject: job, subject and tick."""
    return f"{encode_id(job_id)}:r:{subject}:{_seconds(tick)}"


def step_key(job_id: UUID, run_id: UUID, generation: int) -> str:
    """Return the key of a step in a run: step job, run, and how often the step was run again after a success."""
    return f"{_known(job_id)}:g:{_known(run_id)}:{generation}"


def child_key(job_id: UUID, run_id: UUID, generation: int, number: int) -> str:
    """Return the key of a child of a mapped step: that of the step, and the place of the element in its list."""
    return f"{step_key(job_id, run_id, generation)}:{number}"


def is_child_key(key: str) -> bool:
    """Return whether the key of a step belongs to a child of a mapped step."""
    return key.count(":") == CHILD_KEY_COLONS


_known = lru_cache(maxsize=50_000)(encode_id)  # cached: the same jobs fire again and again, and runs have many steps


def _seconds(at: datetime) -> str:
    """Return a time as seconds since 1970, with a fraction only where it has one."""
    whole = int(at.timestamp())
    return str(whole) if not at.microsecond else f"{whole}.{at.microsecond:06d}".rstrip("0")
