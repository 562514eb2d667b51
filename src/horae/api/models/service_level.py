"""Models of the service level."""

from typing import Self

from pydantic import Field

from horae.api.models.base import ResponseModel
from horae.domain.health.service_level import IN_TIME_LIMIT, SPANS, ServiceLevel
from horae.service.health.service_level import CellLevel, ServiceLevels


class LevelView(ResponseModel):
    """Due times of the last 30 days, the error budget, and how fast it burns."""

    expected: int = Field(description="Due times of active schedules and tasks.")
    in_time: int
    late: int = Field(description="Due times that were served late or not at all, with those that are overdue now.")
    overdue: int = Field(
        description="Schedules and tasks that are overdue now in shards that no node holds. A schedule counts once."
    )
    availability: float | None = Field(description="The part that was in time; null without due times.")
    budget_remaining: float = Field(description="The part of the error budget that is left; negative if overdrawn.")
    burn_rates: dict[str, float] = Field(
        description="How many times faster than allowed the budget burns, by span of time: 5m, 30m, 1h, 6h, 3d, 30d."
    )
    burning: list[str] = Field(
        description="The rules by which the budget burns too fast: `fast` (1h and 5m at 14.4), `slow` (6h and 30m at "
        "6), `steady` (3d and 6h at 1)."
    )

    @classmethod
    def facts_of(cls, level: ServiceLevel) -> dict[str, object]:
        """Returns the fields of a level."""
        counted, share = level.count_of("30d"), level.availability
        return {
            "expected": counted.expected,
            "in_time": counted.in_time,
            "late": counted.late,
            "overdue": level.overdue,
            "availability": None if share is None else round(share, 6),
            "budget_remaining": round(level.budget_remaining, 4),
            "burn_rates": {span: round(level.burn_rate(span), 3) for span in SPANS},
            "burning": [rule.name for rule in level.burning],
        }


class CellLevelView(LevelView):
    """The service level of one priority in one cell."""

    cell: str
    priority: str

    @classmethod
    def of(cls, one: CellLevel) -> Self:
        """Returns the view of a level."""
        return cls.model_validate({"cell": one.cell, "priority": one.priority.name.lower(), **cls.facts_of(one.level)})


class ServiceLevelView(ResponseModel):
    """The service level of a tenant, or of all tenants together. `cells_down` names cells that are left out."""

    objective: float = Field(description="The part of all due times that is to be in time.")
    in_time_seconds: float = Field(description="Seconds after its due time up to which a fire is in time.")
    total: LevelView
    parts: list[CellLevelView] = Field(description="By cell and priority, without those that had no due times.")
    cells_down: list[str]

    @classmethod
    def of(cls, found: ServiceLevels) -> Self:
        """Returns the view of service levels."""
        return cls(
            objective=found.total.objective,
            in_time_seconds=IN_TIME_LIMIT.total_seconds(),
            total=LevelView.model_validate(LevelView.facts_of(found.total)),
            parts=[CellLevelView.of(part) for part in found.parts],
            cells_down=found.cells_down,
        )
