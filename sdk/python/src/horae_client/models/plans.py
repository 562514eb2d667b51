"""Plans: the steps from the stored jobs to the jobs that a source declares."""

from datetime import datetime

import msgspec

from horae_client.models.base import Model
from horae_client.models.jobs import JobDifference


class PlanStep(Model, frozen=True, kw_only=True):
    """One step of a plan. `step` is `create`, `change`, `keep`, `prune`, `leave`, `conflict` or `refused`.

    `fields` are what the step changes, `edits` the changes of others that it contradicts. `pause` says whether it
    pauses or resumes the job, `paused` whether a created job begins paused. The fires are given where the step moves
    them. `warnings` has a sentence for each address of the target that the egress rules refuse.
    """

    name: str
    step: str
    reason: str | None = None
    paused: bool = False
    fields: list[JobDifference] = msgspec.field(default_factory=list)
    edits: list[JobDifference] = msgspec.field(default_factory=list)
    pause: bool | None = None
    fires_before: list[datetime] = msgspec.field(default_factory=list)
    fires_after: list[datetime] = msgspec.field(default_factory=list)
    warnings: list[str] = msgspec.field(default_factory=list)


class Plan(Model, frozen=True, kw_only=True):
    """What applying a source would change: every step by name, and how many there are of each kind."""

    owner: str
    counts: dict[str, int]
    steps: list[PlanStep]


class AppliedStep(Model, frozen=True, kw_only=True):
    """The result of a step. `code` and `message` say why it was refused."""

    name: str
    step: str
    code: str | None = None
    message: str | None = None


class AppliedPlan(Plan, frozen=True, kw_only=True):
    """An applied plan: its steps, and the results of those that change something.

    `next` is the name after which an answer of the API stopped; None: the whole plan was applied.
    """

    done: list[AppliedStep]
    next: str | None = None
