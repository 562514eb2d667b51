"""Tasks and the ledgers of their keys."""

from datetime import datetime
from typing import Any

import msgspec

from horae_client.models.base import Model


class Decision(Model, frozen=True, kw_only=True):
    """The decision about a key: `created`, `moved`, `replaced`, `ignored` or `cancelled`."""

    decision: str
    revision: int
    instance_id: str | None = None
    at: datetime | None = None
    reason: str | None = None
    replaced_id: str | None = None


class Problem(Model, frozen=True, kw_only=True):
    """Why one item of a batch was refused."""

    status: int
    detail: str
    code: str
    type: str = ""
    title: str = ""


class TaskAnswer(Model, frozen=True, kw_only=True):
    """The answer for one task of a batch: its decision, or its problem."""

    key: str
    answer: Decision | None = None
    problem: Problem | None = None


class TaskAnswers(Model, frozen=True, kw_only=True):
    """The answers for the tasks of a batch, in the order of the input."""

    items: list[TaskAnswer]


class LiveTask(Model, frozen=True, kw_only=True):
    """The live task of a key."""

    instance_id: str
    state: str
    at: datetime
    due_at: datetime
    attempt: int
    retry_count: int
    error: str | None = None
    payload: Any = None


class LedgerEntry(Model, frozen=True, kw_only=True):
    """One entry of a key's ledger: the decision, when (`on`) and by whom it was made, and the requested time `at`.

    `decision` is `created`, `moved`, `replaced`, `ignored` (with a `reason`), `cancelled` or `replayed`.
    """

    decision: str
    on: datetime
    by: str = ""
    at: datetime | None = None
    reason: str | None = None


class Task(Model, frozen=True, kw_only=True):
    """A business key: its live task, its ledger, and its last twenty decisions, oldest first."""

    type: str
    key: str
    generation: int
    revision: int
    instance_id: str
    version: int | None = None
    outcome: str | None = None
    live: LiveTask | None = None
    decisions: list[LedgerEntry] = msgspec.field(default_factory=list)
