"""Explanations: why something has or has not run."""

from datetime import datetime
from typing import Any

from horae_client.models.base import Model


class DecidingRow(Model, frozen=True, kw_only=True):
    """A row that decided: what it is a row of, and its id or name. A version is `JOB@NUMBER`, a task `JOB/KEY`."""

    kind: str
    ref: str


class Finding(Model, frozen=True, kw_only=True):
    """One cause: a code for programs, a sentence for people, the facts that decided, and the rows they stand in."""

    code: str
    sentence: str
    facts: dict[str, Any]
    rows: list[DecidingRow]


class Explanation(Model, frozen=True, kw_only=True):
    """Why a job, a fire, a task, a subject or an instance has or has not run; the most decisive finding comes first."""

    kind: str
    subject: str
    at: datetime
    fire_time: datetime | None = None
    language: str
    findings: list[Finding]
