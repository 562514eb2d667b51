"""Models of jobs."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Literal

import msgspec
from pydantic import ConfigDict, Field, StrictInt, StrictStr, model_validator

from horae.api.models.attempt_rules import EXPIRES_AFTER, PriorityWord, RetrySpec
from horae.api.models.base import Name, Number, Payload, RequestModel, ResponseModel
from horae.api.models.graphs import RUN_DEADLINE, RunDeadline, StepSpec, StepView, run_deadline, step_views
from horae.api.models.holds import HoldView
from horae.api.models.job_people import (
    CONTACTS,
    DESCRIPTION,
    FAIL_AFTER,
    LATE_AFTER,
    OWNER,
    RUNBOOK,
    PeopleSpec,
    people_fields,
)
from horae.api.models.limits import LimitSpec
from horae.api.models.recent_runs import RecentRunView
from horae.api.models.schedules import (
    Expression,
    PoliciesSpec,
    Trigger,
    TriggerView,
    Zone,
)
from horae.api.models.showing import show_as, show_one_of
from horae.api.models.targets import Target, TargetView
from horae.api.models.unreadable import Unreadable
from horae.domain.cron import Dialect
from horae.domain.encryption.encrypted_values import undecryptable_code
from horae.domain.graphs.graphs import MAX_STEPS
from horae.domain.ids import Prefix, public
from horae.domain.jobs.definitions import definition_of
from horae.domain.jobs.edges import EndKind
from horae.domain.jobs.jobs import (
    LONGEST_LABEL,
    MAX_EXPIRES_AFTER_S,
    MAX_KEY_RETENTION_DAYS,
    MIN_EXPIRES_AFTER_S,
    MOST_LABELS,
    Definition,
    Job,
    Status,
)
from horae.domain.limits.holds import Hold
from horae.domain.schedules import FireVerdict
from horae.domain.tasks.tasks import AfterSuccess
from horae.domain.tenants.tenants import Tenant
from horae.service.jobs.edges import EdgeProgress
from horae.service.jobs.expected_fires import ExpectedFires
from horae.service.schedules.schedules import Preview

Label = Annotated[StrictStr, Field(max_length=LONGEST_LABEL)]
WARNINGS: Final = (
    "Sentences about what will go wrong: the egress rules refuse the target. Empty in lists, and after changes other "
    "than a create or an update."
)
KEY_RETENTION: Final = (
    "Days after its last run for which the business key of a task is remembered. Then the same key is a new task, even "
    "if it has succeeded before. The default is for ever."
)


AFTER: Final = (
    "Start after another job of the tenant has ended: one instance for each of its ended instances, or a task of the "
    "same business key. For jobs and graphs that are fired by hand, and for types of tasks."
)
EDGE: Final = "How far the edge of `after` is. Null for other jobs, in lists and after changes."


class AfterSpec(RequestModel):
    """The job to start after, and on which ends: SUCCESS (`succeeded`), DEAD (`failed`), or both (`ended`)."""

    job: Name
    on: EndKind = EndKind.SUCCEEDED


class AfterView(ResponseModel):
    """The job that this one starts after, and on which ends."""

    job: str
    on: EndKind


class EdgeView(ResponseModel):
    """How many ended instances an edge has followed, up to when, and why it starts nothing, if so."""

    started: int
    followed_until: datetime | None = None
    error: str | None = None


class JobSpec(PeopleSpec):
    """The definition of a job. `cron` is short for a cron trigger. Without a trigger the job fires only manually.

    A job with `steps` is a graph: each fire is a run of its steps.
    """

    cron: Expression | None = None
    dialect: Dialect | None = None
    timezone: Zone | None = Field(None, description="The time zone of `cron`. The default is the zone of the tenant.")
    trigger: Trigger | None = None
    target: Target | None = Field(None, description="The default is the pull queue with the name of the job.")
    priority: PriorityWord = "normal"
    payload: Payload = None
    labels: Annotated[dict[str, Label], Field(max_length=MOST_LABELS)] = {}
    retry: RetrySpec = RetrySpec()
    policies: PoliciesSpec = PoliciesSpec()
    after_success: AfterSuccess = AfterSuccess.IGNORE
    width: Literal[1, 4, 16, 64, 256, 4096] | None = Field(
        None, description="The number of shards for the keys of a task type. The default is the width of the tenant."
    )
    limit: LimitSpec | None = None
    quotas: Annotated[list[Name], Field(max_length=20)] = []
    expires_after: Annotated[Number, Field(ge=MIN_EXPIRES_AFTER_S, le=MAX_EXPIRES_AFTER_S)] | None = Field(
        None, description=EXPIRES_AFTER, examples=[3600]
    )
    key_retention_days: Annotated[StrictInt, Field(ge=1, le=MAX_KEY_RETENTION_DAYS)] | None = Field(
        None, description=KEY_RETENTION
    )
    steps: Annotated[list[StepSpec], Field(min_length=1, max_length=MAX_STEPS)] | None = Field(
        None, description="The steps of a graph. Its target, retries, limits and payload belong to the steps."
    )
    run_deadline: RunDeadline | None = Field(None, description=RUN_DEADLINE)
    after: AfterSpec | None = Field(None, description=AFTER, examples=[{"job": "load_orders", "on": "succeeded"}])

    @model_validator(mode="after")
    def _one_trigger(self) -> "JobSpec":
        if self.cron is not None and self.trigger is not None:
            raise ValueError("a job has one trigger: `cron` or `trigger`")
        if self.cron is None and (self.dialect or self.timezone):
            raise ValueError("`dialect` and `timezone` belong to `cron`")
        return self

    @model_validator(mode="after")
    def _each_quota_once(self) -> "JobSpec":
        if len(set(self.quotas)) < len(self.quotas):
            raise ValueError("`quotas` names each quota once")
        return self

    def definition(self, tenant: Tenant, name: str, now: datetime) -> Definition:
        """Returns the definition of the domain, with all defaults filled in."""
        return definition_of(self.model_dump(mode="json", exclude_unset=True), tenant, name, now)


class NewJob(JobSpec):
    """A new job."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"name": "coupon_job", "cron": "0 */5 * * * ?"},
                {
                    "name": "nightly_report",
                    "cron": "0 2 * * *",
                    "timezone": "Asia/Shanghai",
                    "target": {"kind": "http", "url": "https://example.com/reports"},
                    "labels": {"team": "finance"},
                },
            ]
        }
    )

    name: Name


class ComingFire(ResponseModel):
    """A coming fire. `skipped` has the reason if it will not happen."""

    fire_time: datetime
    due_at: datetime | None = None
    skipped: str | None = None


class SchedulePreview(ResponseModel):
    """The schedule in words, in English and Chinese, and its coming fires."""

    english: str | None = None
    chinese: str | None = None
    fires: list[ComingFire] = []

    @classmethod
    def of(cls, preview: Preview) -> "SchedulePreview":
        """Returns the view of a preview."""
        return cls(english=preview.english, chinese=preview.chinese, fires=[_coming(one) for one in preview.verdicts])


class OverrideView(ResponseModel):
    """A coming fire that is skipped, or moved to another time."""

    at: datetime
    to: datetime | None = None


class ExpectedFiresView(ResponseModel):
    """The fire times of a job in a range. If `next` is not null, send it as `since` to get the fires after these."""

    fires: list[datetime]
    next: datetime | None = None

    @classmethod
    def of(cls, found: ExpectedFires) -> "ExpectedFiresView":
        """Returns the view of expected fires."""
        return cls(fires=found.fires, next=found.next)


class JobView(ResponseModel):
    """A job, with all defaults filled in."""

    id: str = Field(examples=["job_01hv3zq5k8e9r7t2m4n6p8s0v1"])
    name: str
    version: int
    status: Status
    trigger: TriggerView
    target: TargetView
    priority: PriorityWord
    payload: Any = None
    labels: dict[str, str]
    retry: RetrySpec
    policies: PoliciesSpec
    after_success: AfterSuccess
    width: int | None = None
    limit: LimitSpec | None = None
    quotas: list[str] = []
    expires_after: float | None = Field(None, description=EXPIRES_AFTER)
    key_retention_days: int | None = Field(None, description=KEY_RETENTION)
    description: str | None = Field(None, description=DESCRIPTION)
    owner: str | None = Field(None, description=OWNER)
    runbook: str | None = Field(None, description=RUNBOOK)
    contacts: list[str] = Field([], description=CONTACTS)
    late_after: int | None = Field(None, description=LATE_AFTER)
    fail_after: int | None = Field(None, description=FAIL_AFTER)
    overrides: list[OverrideView] = []
    next_fire_at: datetime | None = None
    changed_at: datetime | None = Field(None, description="Time of the last change of the definition or the status.")
    steps: list[StepView] | None = Field(
        None,
        description="The steps of a graph, each behind those that it needs. Null for other jobs, in lists, and after "
        "changes other than a create or an update.",
    )
    run_deadline: float | None = Field(None, description=RUN_DEADLINE)
    after: AfterView | None = Field(None, description=AFTER)
    edge: EdgeView | None = Field(None, description=EDGE)
    unreadable: Unreadable = None
    schedule: SchedulePreview | None = None
    held: list[HoldView] | None = Field(
        None,
        description="The calls that its target and limits hold back now, also calls of other jobs. "
        "Null in lists and after changes.",
    )
    warnings: list[str] = Field([], description=WARNINGS)
    recent_runs: list[RecentRunView] | None = Field(
        None, description="The newest ended runs, newest first. Null unless the list was asked for them."
    )

    @classmethod
    def of(
        cls,
        job: Job,
        preview: Preview | None = None,
        held: Sequence[Hold] | None = None,
        warnings: Sequence[str] = (),
        edge: EdgeProgress | None = None,
    ) -> "JobView":
        """Returns the view of a job."""
        made = job.definition
        return cls(
            id=public(Prefix.JOB, job.id),
            name=job.name,
            version=job.version,
            status=job.status,
            trigger=show_one_of(TriggerView, made.trigger),
            target=show_one_of(TargetView, made.target),
            priority=made.priority.name.lower(),  # type: ignore[arg-type]
            payload=made.payload,
            labels=made.labels,
            retry=show_as(RetrySpec, made.retry),
            policies=show_as(PoliciesSpec, made.policies),
            after_success=made.after_success,
            width=made.width,
            limit=None if made.limit is None else show_as(LimitSpec, made.limit),
            quotas=list(made.quotas),
            expires_after=made.expires_after,
            key_retention_days=made.key_retention_days,
            **people_fields(made),
            overrides=[OverrideView.model_validate(one) for one in made.overrides],
            next_fire_at=job.next_fire_at,
            changed_at=job.changed_at,
            steps=step_views(made),
            run_deadline=run_deadline(made),
            after=None if made.after is None else AfterView(job=made.after.job, on=made.after.on),
            edge=None if edge is None else EdgeView(**msgspec.structs.asdict(edge)),
            unreadable=undecryptable_code(made.sealed),
            schedule=None if preview is None else SchedulePreview.of(preview),
            held=None if held is None else [HoldView.of(hold) for hold in held],
            warnings=list(warnings),
        )


def _coming(verdict: Any) -> ComingFire:
    if isinstance(verdict, FireVerdict):
        return ComingFire(fire_time=verdict.fire_time, due_at=verdict.due_at)
    return ComingFire(fire_time=verdict.fire_time, skipped=verdict.reason)
