"""Models of alerts, alert rules and silences."""

from datetime import datetime
from typing import Annotated, Any, Final, Literal

import msgspec
from pydantic import ConfigDict, Field, StrictInt
from pydantic.config import JsonDict

from horae.api.models.base import Flag, Moment, Name, Number, RequestModel, ResponseModel, Text
from horae.api.models.channels import ChannelView
from horae.domain.alerts.alerts import Alert, AlertState, MessageRow, MessageState
from horae.domain.alerts.kinds import AlertKind, AlertSeverity
from horae.domain.alerts.rules import (
    LONGEST_OWNER,
    LONGEST_TIME_S,
    MOST_CHANNELS,
    MOST_LABELS,
    AlertRule,
)
from horae.domain.alerts.silences import LONGEST_COMMENT, Silence
from horae.domain.ids import Prefix, public
from horae.service.alerts.alerts import AlertDetail
from horae.service.alerts.channels import AlertDefinition

Labels = Annotated[dict[Name, Text], Field(max_length=MOST_LABELS)]
Owner = Annotated[str, Field(min_length=1, max_length=LONGEST_OWNER, strict=True)]
RULE: Final[JsonDict] = {"kind": "no_success", "job": "coupon_job", "threshold": 3600, "channels": ["orders-oncall"]}
SILENCE: Final[JsonDict] = {
    "starts_at": "2030-01-31T22:00:00Z",
    "ends_at": "2030-02-01T02:00:00Z",
    "labels": {"team": "crm"},
    "comment": "database maintenance",
}


class NewAlertRule(RequestModel):
    """A rule: the kind of fault, the jobs it is about (all without a selector), and where its messages go.

    `threshold` is in the unit of its kind. `repeat_after` and `resolve_after` are in seconds.
    """

    model_config = ConfigDict(json_schema_extra={"examples": [RULE]})

    kind: AlertKind
    job: Name | None = None
    labels: Labels = {}
    owner: Owner | None = None
    threshold: Annotated[Number, Field(ge=0, le=1e9)] | None = None
    resolve_after: Annotated[StrictInt, Field(ge=1, le=LONGEST_TIME_S)] | None = None
    channels: Annotated[list[Name], Field(max_length=MOST_CHANNELS)] = []
    severity: AlertSeverity | None = None
    group_by: Literal["job", "tenant"] = "job"
    repeat_after: Annotated[StrictInt, Field(ge=0, le=LONGEST_TIME_S)] = 3600
    enabled: Flag = True

    def to_domain(self) -> AlertRule:
        """Returns the rule of the domain."""
        return msgspec.convert(self.model_dump(mode="json"), AlertRule)


class AlertRuleView(ChannelView):
    """An alert rule."""

    kind: AlertKind
    job: str | None
    labels: dict[str, str]
    owner: str | None
    threshold: float | None
    resolve_after: int | None
    channels: list[str]
    severity: AlertSeverity | None
    group_by: str
    repeat_after: int
    enabled: bool

    @classmethod
    def of(cls, detail: AlertDefinition[AlertRule]) -> "AlertRuleView":
        """Returns the view of a rule."""
        return cls.model_validate({**cls.facts(detail.channel), **_fields(detail.meaning)})


class NewSilence(RequestModel):
    """A time in which alerts are recorded and not sent: of some jobs, of some kinds, or all."""

    model_config = ConfigDict(json_schema_extra={"examples": [SILENCE]})

    starts_at: Moment
    ends_at: Moment
    kinds: Annotated[list[AlertKind], Field(max_length=len(AlertKind))] = []
    job: Name | None = None
    labels: Labels = {}
    owner: Owner | None = None
    comment: Annotated[str, Field(max_length=LONGEST_COMMENT, strict=True)] = ""

    def to_domain(self) -> Silence:
        """Returns the silence of the domain."""
        return msgspec.convert(self.model_dump(mode="json"), Silence)


class SilenceView(ChannelView):
    """A silence."""

    starts_at: datetime
    ends_at: datetime
    kinds: list[AlertKind]
    job: str | None
    labels: dict[str, str]
    owner: str | None
    comment: str

    @classmethod
    def of(cls, detail: AlertDefinition[Silence]) -> "SilenceView":
        """Returns the view of a silence."""
        return cls.model_validate({**cls.facts(detail.channel), **_fields(detail.meaning)})


class AlertMessageView(ResponseModel):
    """A message of an alert to one channel. `id` is the same in every attempt."""

    id: str
    sequence: int
    channel: str
    status: str
    state: MessageState
    attempts: int
    created_at: datetime
    next_try_at: datetime | None
    sent_at: datetime | None
    error: str | None

    @classmethod
    def of(cls, row: MessageRow) -> "AlertMessageView":
        """Returns the view of a message."""
        facts = {name: getattr(row, name) for name in cls.model_fields if name in row._fields}
        return cls.model_validate({**facts, "id": row.body["id"], "status": row.body["status"]})


class AlertView(ResponseModel):
    """What a rule found: a group of faults, from `opened_at` to `resolved_at`. Lists leave out `messages`.

    `count` is how many faults there were, or the figure of a state when it was last seen. `labels` are those of the
    job. `runbook` is the page of the job; with `messages` also the page of the kind, where the platform publishes it.
    """

    id: str = Field(examples=["alr_01hv3zq5k8e9r7t2m4n6p8s0v1"])
    state: AlertState
    kind: AlertKind
    severity: AlertSeverity
    rule: str
    job: str | None
    job_id: str | None
    owner: str | None
    labels: dict[str, str]
    runbook: str | None
    reason: str
    count: int
    channels: list[str]
    opened_at: datetime
    last_seen_at: datetime
    acknowledged_at: datetime | None
    acknowledged_by: str | None
    resolved_at: datetime | None
    messages: list[AlertMessageView] | None = None

    @classmethod
    def of(cls, alert: Alert) -> "AlertView":
        """Returns the view of an alert."""
        facts = {name: getattr(alert, name) for name in cls.model_fields if hasattr(alert, name)}
        job_id = None if alert.job_id is None else public(Prefix.JOB, alert.job_id)
        return cls.model_validate({**facts, "id": public(Prefix.ALERT, alert.id), "job_id": job_id})

    @classmethod
    def with_messages(cls, detail: AlertDetail) -> "AlertView":
        """Returns the view of an alert with its messages."""
        messages = [AlertMessageView.of(row) for row in detail.messages]
        runbook = detail.alert.runbook or next((row.body.get("runbook") for row in detail.messages), None)
        return cls.of(detail.alert).model_copy(update={"messages": messages, "runbook": runbook})


def _fields(meaning: msgspec.Struct) -> dict[str, Any]:
    return {name: getattr(meaning, name) for name in meaning.__struct_fields__}
