"""Models of incidents."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from horae.api.models.base import AuditReason, Moment, RequestModel, ResponseModel
from horae.domain.ids import Prefix, public
from horae.domain.incidents.incidents import Incident, IncidentEntry, IncidentGrade, IncidentResult, RecoveryStep
from horae.service.incidents.incidents import IncidentDetail


class NewIncident(RequestModel):
    """An incident from which nodes recover by themselves."""

    model_config = ConfigDict(json_schema_extra={"example": {"grade": "P1", "reason": "the primary of cell-1 is lost"}})
    grade: IncidentGrade
    reason: AuditReason
    fault_at: Annotated[
        Moment | None, Field(description="When the trouble began, at most a day ago; by default now.")
    ] = None


class StopIncident(RequestModel):
    """Why recovery is stopped."""

    model_config = ConfigDict(json_schema_extra={"example": {"reason": "a false alarm"}})
    reason: AuditReason


class IncidentEntryView(ResponseModel):
    """One line of the timeline: a step that has ended, or a part of one, with its figures."""

    at: datetime
    cell: str
    step: RecoveryStep
    part: str = Field(description="The part of the step; empty at the end of the step.")
    facts: dict[str, Any]

    @classmethod
    def of(cls, one: IncidentEntry) -> "IncidentEntryView":
        """Returns the view of an entry."""
        return cls(at=one.at, cell=one.cell, step=one.step, part=one.part, facts=dict(one.facts))


class RecoverySummaryView(ResponseModel):
    """What recovery did so far."""

    shards_held: int
    subscriptions_replayed: int
    dead_letters_requeued: int
    dead_letters_refused: int
    findings: int | None = Field(None, description="Findings of the audit of fires. Null: not audited yet.")
    rto_s: float | None = Field(
        None, description="Seconds from the fault until no critical fire was overdue. Null: not reached."
    )
    rpo_s: float | None = Field(
        None, description="Seconds of acknowledged writes that are lost. Null: a cell may have lost some."
    )


class IncidentView(ResponseModel):
    """An incident: what is to be done next, until when, and what that waits for."""

    id: str
    grade: IncidentGrade
    step: RecoveryStep
    reason: str
    started_by: str
    fault_at: datetime
    started_at: datetime
    changed_at: datetime
    deadline: datetime | None = Field(None, description="When the step is given up.")
    ended_at: datetime | None = None
    result: IncidentResult | None = None
    stop_requested: bool
    error: str | None = Field(None, description="What the step waits for.")

    @classmethod
    def of(cls, one: Incident) -> "IncidentView":
        """Returns the view of an incident."""
        return cls(**facts_of(one))


class IncidentDetailView(IncidentView):
    """An incident with its timeline and what it adds up to."""

    timeline: list[IncidentEntryView]
    summary: RecoverySummaryView

    @classmethod
    def with_timeline(cls, one: IncidentDetail) -> "IncidentDetailView":
        """Returns the view of an incident with its timeline."""
        return cls(
            **facts_of(one.incident),
            timeline=[IncidentEntryView.of(entry) for entry in one.timeline],
            summary=RecoverySummaryView(**one.summary._asdict()),
        )


def facts_of(one: Incident) -> dict[str, Any]:
    """Returns the fields of an incident as views have them."""
    facts = {name: value for name, value in one._asdict().items() if name in IncidentView.model_fields}
    return {**facts, "id": public(Prefix.INCIDENT, one.id), "deadline": one.deadline}
