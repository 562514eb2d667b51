"""Models of drills."""

from datetime import datetime

from pydantic import Field

from horae.api.models.base import ResponseModel
from horae.domain.drills.drills import DrillKind
from horae.service.drills.history import PastDrill


class DrillView(ResponseModel):
    """A drill that has ended: what it broke, and how long it took until all was well again."""

    kind: DrillKind
    passed: bool
    environment: str
    deployment: str
    actor: str = Field(description="Who ran it.")
    reason: str
    how: str = Field(description="What was done to which process, server or target.")
    began_at: datetime
    broken_at: datetime | None = Field(None, description="When the fault began. Null: nothing was broken.")
    restored_at: datetime | None = Field(None, description="When the way back was taken.")
    ended_at: datetime
    rto_s: float | None = Field(None, description="Seconds until all was well again. Null: not reached.")
    rpo_s: float | None = Field(None, description="Seconds of acknowledged writes that were lost. Null: not known.")
    rto_target_s: float
    rpo_target_s: float
    late: int = Field(description="Fires of the drill's load that took effect late.")
    lost: int = Field(description="Fires of the drill's load without an effect.")
    findings: int = Field(description="Findings of the audit of fires.")
    faults: list[str] = Field(description="Why it did not pass; empty if it passed.")
    report_sha256: str = Field(description="The digest of `report.json`.")

    @classmethod
    def of(cls, one: PastDrill) -> "DrillView":
        """Returns the view of a drill."""
        result = one.result
        facts = {name: getattr(result, name) for name in cls.model_fields if name != "report_sha256"}
        return cls(**facts | {"faults": list(result.faults), "report_sha256": one.report_sha256})
