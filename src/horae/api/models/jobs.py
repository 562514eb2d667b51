"""Jobs as they are asked for and shown."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Literal

import msgspec
from pydantic import ConfigDict, Field, StrictStr, model_validator

from horae.api.models.base import Name, Number, Payload, Shown, Told
from horae.api.models.holds import HoldView
from horae.api.models.limits import Limit
from horae.api.models.schedules import Cron, Expression, Interval, Manual, Policies, Rolling, Trigger, Zone
from horae.api.models.showing import show_as
from horae.api.models.targets import Target
from horae.api.models.unreadable import Unreadable
from horae.domain.cron import Dialect
from horae.domain.holds import Hold
from horae.domain.ids import Prefix, public
from horae.domain.instances import Priority
from horae.domain.jobs import MAX_EXPIRES_AFTER_S, MIN_EXPIRES_AFTER_S, Definition, Job, Status, own_queue
from horae.domain.rolling import ONE_TRY
from horae.domain.schedule import Fire
from horae.domain.sealed import unopened_code
from horae.domain.tasks import AfterSuccess
from horae.domain.tenants import Tenant
from horae.domain.triggers import cron
from horae.service.schedules import Preview

Words = Literal["critical", "normal", "low"]
Label = Annotated[StrictStr, Field(max_length=63)]
EXPIRES_AFTER: Final = (
    "Seconds for which a due instance may wait before it is SKIPPED or DEAD with `EXPIRED`. Where it is left out: a "
    "day for jobs that recur, without end for tasks and jobs that fire once or by hand."
)


class Retry(Told):
    """When to try again, in seconds; the sixth failure is final unless it says otherwise."""

    base: Annotated[Number, Field(gt=0, le=86400)] = 0.5
    jitter_min: Annotated[Number, Field(ge=0, le=86400)] = 0.1
    jitter_max: Annotated[Number, Field(ge=0, le=86400)] = 0.8
    longest: Annotated[Number, Field(gt=0, le=86400)] = 300.0
    max_failures: Annotated[int, Field(strict=True, ge=1, le=1000)] = 6


class JobSpec(Told):
    """What a person writes down about a job. `cron` is short for a trigger; without any a job fires by hand only."""

    cron: Expression | None = None
    dialect: Dialect | None = None
    timezone: Zone | None = Field(None, description="The zone of `cron`; the tenant's own where it is left out.")
    trigger: Trigger | None = None
    target: Target | None = Field(None, description="The pull queue of the job's name where it is left out.")
    priority: Words = "normal"
    payload: Payload = None
    labels: Annotated[dict[str, Label], Field(max_length=32)] = {}
    retry: Retry = Retry()
    policies: Policies = Policies()
    after_success: AfterSuccess = AfterSuccess.IGNORE
    width: Literal[1, 4, 16, 64, 256, 4096] | None = Field(
        None, description="Over how many shards the keys of a type are spread; the tenant's own where it is left out."
    )
    limit: Limit | None = None
    quotas: Annotated[list[Name], Field(max_length=20)] = []
    expires_after: Annotated[Number, Field(ge=MIN_EXPIRES_AFTER_S, le=MAX_EXPIRES_AFTER_S)] | None = Field(
        None, description=EXPIRES_AFTER, examples=[3600]
    )

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
        """The same in the words of the domain, with nothing left to guess."""
        told = self.model_dump(mode="json", exclude_unset=True, exclude={"cron", "dialect", "timezone", "trigger"})
        said = {key: value for key, value in told.items() if value is not None}  # null is what was left out
        said["priority"] = Priority[self.priority.upper()]
        said["trigger"] = _trigger(self._asked(), tenant, name, now)
        said.setdefault("target", msgspec.to_builtins(own_queue(name)))
        if isinstance(self.trigger, Rolling):
            said.setdefault("retry", msgspec.to_builtins(ONE_TRY))
        return msgspec.convert(said, Definition)

    def _asked(self) -> Any:
        if self.cron is not None:
            return Cron(kind="cron", expression=self.cron, dialect=self.dialect, zone=self.timezone)
        return self.trigger or Manual(kind="manual")


class NewJob(JobSpec):
    """A job to be made."""

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


class ComingFire(Shown):
    """One of the coming fires; with a reason when it will not happen."""

    fire_time: datetime
    due_at: datetime | None = None
    skipped: str | None = None


class Echo(Shown):
    """What was understood: the sentence in two languages, and the coming fires."""

    english: str | None = None
    chinese: str | None = None
    fires: list[ComingFire] = []

    @classmethod
    def of(cls, preview: Preview) -> "Echo":
        """A preview as it is shown."""
        return cls(english=preview.english, chinese=preview.chinese, fires=[_coming(one) for one in preview.verdicts])


class OverrideView(Shown):
    """One coming fire that was skipped, or moved to another time."""

    at: datetime
    to: datetime | None = None


class JobView(Shown):
    """A job as it is now, with all that was filled in."""

    id: str = Field(examples=["job_01hv3zq5k8e9r7t2m4n6p8s0v1"])
    name: str
    version: int
    status: Status
    trigger: dict[str, Any]
    target: dict[str, Any]
    priority: Words
    payload: Any = None
    labels: dict[str, str]
    retry: dict[str, Any]
    policies: dict[str, Any]
    after_success: AfterSuccess
    width: int | None = None
    limit: Limit | None = None
    quotas: list[str] = []
    expires_after: float | None = Field(None, description=EXPIRES_AFTER)
    overrides: list[OverrideView] = []
    next_fire_at: datetime | None = None
    unreadable: Unreadable = None
    schedule: Echo | None = None
    held: list[HoldView] | None = Field(
        None,
        description="What its target and limits hold back now, of other jobs too; null in lists and after changes.",
    )

    @classmethod
    def of(cls, job: Job, preview: Preview | None = None, held: Sequence[Hold] | None = None) -> "JobView":
        """A job as it is shown."""
        made = job.definition
        trigger = {key: value for key, value in msgspec.to_builtins(made.trigger).items() if key != "salt"}
        return cls(
            id=public(Prefix.JOB, job.id),
            name=job.name,
            version=job.version,
            status=job.status,
            trigger=trigger,
            target=msgspec.to_builtins(made.target),
            priority=made.priority.name.lower(),  # type: ignore[arg-type]
            payload=made.payload,
            labels=made.labels,
            retry=show_as(Retry, made.retry).model_dump(),
            policies=show_as(Policies, made.policies).model_dump(mode="json"),
            after_success=made.after_success,
            width=made.width,
            limit=None if made.limit is None else show_as(Limit, made.limit),
            quotas=list(made.quotas),
            expires_after=made.expires_after,
            overrides=[OverrideView.model_validate(one) for one in made.overrides],
            next_fire_at=job.next_fire_at,
            unreadable=unopened_code(made.sealed),
            schedule=None if preview is None else Echo.of(preview),
            held=None if held is None else [HoldView.of(hold) for hold in held],
        )


def _coming(verdict: Any) -> ComingFire:
    if isinstance(verdict, Fire):
        return ComingFire(fire_time=verdict.fire_time, due_at=verdict.due_at)
    return ComingFire(fire_time=verdict.fire_time, skipped=verdict.reason)


def _trigger(asked: Any, tenant: Tenant, name: str, now: datetime) -> dict[str, Any]:
    match asked:
        case Cron():
            salt = f"{tenant.name}/{name}"
            made = cron(asked.expression, dialect=asked.dialect, zone_name=asked.zone or tenant.zone, salt=salt)
            made = msgspec.structs.replace(made, dst_gap=asked.dst_gap, dst_overlap=asked.dst_overlap)
            return dict(msgspec.to_builtins(made))
        case Interval():
            anchor = asked.anchor or now.replace(microsecond=0)
            return {"kind": "interval", "every": asked.every, "anchor": anchor.isoformat()}
        case Rolling():
            told = asked.model_dump(mode="json", exclude_none=True)
            return told | {"anchor": (asked.anchor or now.replace(microsecond=0)).isoformat()}
        case _:
            return dict(asked.model_dump(mode="json"))
