"""Models of explanations: why something has or has not run."""

from datetime import datetime
from typing import Any, Final

from pydantic import ConfigDict, Field

from horae.api.models.base import ResponseModel
from horae.domain.explanations.findings import ExplainedKind, Explanation, Finding, FindingCode, RowKind
from horae.domain.explanations.sentences import sentence
from horae.domain.explanations.words import Language

EXAMPLE: Final[dict[str, Any]] = {
    "kind": "fire",
    "subject": "coupon_job 2026-11-17T18:00:00+00:00",
    "at": "2026-11-18T01:00:00Z",
    "fire_time": "2026-11-17T18:00:00Z",
    "language": "en",
    "findings": [
        {
            "code": "SKIPPED",
            "sentence": "ins_01hv3zq5k8e9r7t2m4n6p8s0v1 of the fire at 2026-11-17 18:00:00 UTC ran nothing: a calendar "
            "of the job excludes that day (holidays)",
            "facts": {"reason": "CALENDAR", "calendars": ["holidays"]},
            "rows": [
                {"kind": "instance", "ref": "ins_01hv3zq5k8e9r7t2m4n6p8s0v1"},
                {"kind": "calendar", "ref": "holidays"},
            ],
        }
    ],
}


class DecidingRowView(ResponseModel):
    """A row that decided: what it is a row of, and its id or name. A version is `JOB@NUMBER`, a task `JOB/KEY`."""

    kind: RowKind
    ref: str


class FindingView(ResponseModel):
    """One cause: a code for programs, a sentence for people, the facts that decided, and the rows they stand in."""

    code: FindingCode
    sentence: str
    facts: dict[str, Any]
    rows: list[DecidingRowView]

    @classmethod
    def of(cls, found: Finding, language: Language) -> "FindingView":
        """Returns the view of a finding in a language."""
        rows = [DecidingRowView(kind=row.kind, ref=row.ref) for row in found.rows]
        return cls(code=found.code, sentence=sentence(found, language), facts=found.facts, rows=rows)


class ExplanationView(ResponseModel):
    """Why a job, a fire, a task, a subject or an instance has or has not run; the most decisive finding comes first."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    kind: ExplainedKind
    subject: str = Field(description="The id of the job or instance, the job and fire time, or `JOB/KEY`.")
    at: datetime = Field(description="The time at which this was true.")
    fire_time: datetime | None = Field(None, description="The fire that is explained, if a time was given.")
    language: Language
    findings: list[FindingView]

    @classmethod
    def of(cls, found: Explanation, language: Language) -> "ExplanationView":
        """Returns the view of an explanation in a language."""
        return cls(
            kind=found.kind,
            subject=found.subject,
            at=found.at,
            fire_time=found.fire_time,
            language=language,
            findings=[FindingView.of(one, language) for one in found.findings],
        )
