"""Models of plans: the jobs that a source declares, and the steps from the stored jobs to them."""

from datetime import datetime
from typing import Annotated, Any, Final, Self

from pydantic import ConfigDict, Field, StrictBool, StrictStr, model_validator

from horae.api.models.base import Number, RequestModel, ResponseModel
from horae.api.models.jobs import Label
from horae.api.models.versions import JobDifferenceView
from horae.domain.jobs.jobs import LAST_VERSION
from horae.domain.names import LONGEST_NAME
from horae.domain.plans.plans import ChangeStep, ConflictStep, CreateStep, RefusedStep, word_of
from horae.domain.plans.spreads import SpreadChange
from horae.domain.schedules.spread import MAX_SPREAD_S
from horae.service.plans import AppliedStep, PlanLine, SourcePlan

MAX_PLANNED_JOBS: Final = 5000
"""Jobs that one source may declare; it bounds the work of a request."""
MAX_APPLIED_STEPS: Final = 500
"""Steps that one request applies; it bounds the seconds that a request takes."""
MAX_SPREAD_JOBS: Final = 500
"""Jobs whose windows one plan sets: one request applies all of them."""
SPREAD: Final = "The spread windows by job, as `POST /forecast/spread` proposes them."
JOB_FIELDS: Final = (
    "The declared jobs by name. A job has the fields of a new job, and `every` (seconds), `paused` and `shadow`."
)


class SpreadChangeSpec(RequestModel):
    """The spread window that a job gets, if it still has this version."""

    version: Annotated[int, Field(strict=True, ge=1, le=LAST_VERSION)]
    window: Annotated[Number, Field(ge=0, le=MAX_SPREAD_S, description="Seconds.")]

    def to_domain(self) -> SpreadChange:
        """Returns the change of the domain."""
        return SpreadChange(self.version, self.window)


class PlanRequest(RequestModel):
    """All jobs that a source of schedules declares. `owner` names the source.

    Instead of `owner` and `jobs`, `spread` sets the spread windows of jobs of any owner, and changes nothing else.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"owner": "billing", "jobs": {"nightly_report": {"cron": "0 2 * * *", "priority": "low"}}},
                {"spread": {"nightly_report": {"version": 1, "window": 300}}},
            ]
        }
    )

    owner: Label | None = None
    jobs: Annotated[dict[str, dict[str, Any]] | None, Field(max_length=MAX_PLANNED_JOBS, description=JOB_FIELDS)] = None
    prune: Annotated[StrictBool, Field(description="Remove jobs of this owner that are no longer declared.")] = False
    force: Annotated[StrictBool, Field(description="Overwrite changes of others, and adopt their jobs.")] = False
    spread: Annotated[dict[str, SpreadChangeSpec] | None, Field(max_length=MAX_SPREAD_JOBS, description=SPREAD)] = None

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if self.spread is None and (self.owner is None or self.jobs is None):
            raise ValueError("needs `owner` and `jobs`, or `spread`")
        if self.spread is not None and (self.owner is not None or self.jobs is not None or self.prune or self.force):
            raise ValueError("has `spread` alone: neither owner, jobs, prune nor force")
        return self


class ApplyRequest(PlanRequest):
    """A source, and which part of its plan to apply. The steps are in the order of their names, from `after` on."""

    after: Annotated[StrictStr, Field(max_length=LONGEST_NAME, description="`next` of the previous response.")] = ""
    limit: Annotated[
        int, Field(strict=True, ge=1, le=MAX_APPLIED_STEPS, description="Maximum number of changed jobs.")
    ] = MAX_APPLIED_STEPS


class PlanStepView(ResponseModel):
    """One step of a plan. `step`: create, change, keep, prune, leave, conflict or refused."""

    name: str
    step: str
    reason: Annotated[str | None, Field(description="Why a person has to decide, or why the step is refused.")] = None
    paused: Annotated[bool, Field(description="Whether a created job begins paused.")] = False
    fields: Annotated[list[JobDifferenceView], Field(description="The fields that the step changes.")] = []
    edits: Annotated[list[JobDifferenceView], Field(description="The changes of others that it contradicts.")] = []
    pause: Annotated[bool | None, Field(description="Whether it pauses or resumes the job; null: neither.")] = None
    fires_before: Annotated[list[datetime], Field(description="The next fires before it, if it moves fires.")] = []
    fires_after: Annotated[list[datetime], Field(description="The next fires after it, if it moves fires.")] = []
    warnings: Annotated[
        list[str], Field(description="Sentences about what will go wrong: the egress rules refuse the target.")
    ] = []

    @classmethod
    def of(cls, line: PlanLine) -> "PlanStepView":
        """Returns the view of a line of a plan."""
        step = line.step
        change = step.force if isinstance(step, ConflictStep) else step
        made = cls(name=step.name, step=word_of(step), fires_before=list(line.before), fires_after=list(line.after))
        made.warnings = list(line.warnings)
        if isinstance(step, CreateStep):
            made.paused = step.paused
        if isinstance(step, ConflictStep | RefusedStep):
            made.reason = step.reason
        if isinstance(step, ConflictStep):
            made.edits = [JobDifferenceView.of(one) for one in step.edits]
        if isinstance(change, ChangeStep):
            made.fields, made.pause = [JobDifferenceView.of(one) for one in change.fields], change.pause
        return made


class PlanView(ResponseModel):
    """What applying a source would change now: every step by name, and how many there are of each kind.

    `owner` is empty for a plan of spread windows.
    """

    owner: str
    counts: dict[str, int]
    steps: list[PlanStepView]

    @classmethod
    def of(cls, plan: SourcePlan) -> "PlanView":
        """Returns the view of a plan."""
        return cls(owner=plan.owner, counts=plan.counts(), steps=[PlanStepView.of(line) for line in plan.lines])


class AppliedStepView(ResponseModel):
    """The result of a step. `code` and `message` say why it was refused."""

    name: str
    step: str
    code: str | None = None
    message: str | None = None


class AppliedPlanView(ResponseModel):
    """The steps of one part of a plan, and the results of those that change something.

    `counts` are those of the whole plan before this part. If `next` is not null, send it as `after` with the same
    source to apply the next part.
    """

    owner: str
    counts: dict[str, int]
    steps: list[PlanStepView]
    done: list[AppliedStepView]
    next: str | None = None

    @classmethod
    def of(cls, plan: SourcePlan, part: SourcePlan, done: list[AppliedStep], after: str | None) -> "AppliedPlanView":
        """Returns the view of an applied part of a plan."""
        return cls(
            owner=plan.owner,
            counts=plan.counts(),
            steps=[PlanStepView.of(line) for line in part.lines],
            done=[AppliedStepView.model_validate(one) for one in done],
            next=after,
        )
