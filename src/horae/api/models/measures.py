"""Models of protective measures and of the decisions of people about them."""

from datetime import datetime
from typing import Annotated, Final
from uuid import UUID

from pydantic import ConfigDict, Field, StrictInt

from horae.api.models.base import AuditReason, Flag, Name, RequestModel, ResponseModel
from horae.domain.ids import Prefix, public
from horae.domain.measures.measures import MAX_OVERRIDE, PLATFORM_SCOPE, MeasureAction, MeasureName, MeasureState
from horae.service.measures.overrides import DecisionCopies, MeasureScope

MAX_MINUTES: Final = int(MAX_OVERRIDE.total_seconds()) // 60
"""The longest decision, in minutes."""
OfTenant = Annotated[
    Name | None, Field(description="The name or the id of a tenant: of it alone. Null: of the whole platform.")
]
Concerned = Annotated[
    str | None, Field(description="The id of the tenant concerned. Null: it concerns the whole platform.")
]


class OverrideMeasure(RequestModel):
    """A decision about a measure, whatever its signal says."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"in_force": False, "minutes": 60, "reason": "the herd is over"}}
    )
    in_force: Annotated[Flag, Field(description="True: with all its actions. False: with none.")]
    minutes: Annotated[StrictInt, Field(ge=1, le=MAX_MINUTES, description="How long the decision lasts.")] = 60
    tenant: OfTenant = None
    reason: AuditReason


class LiftMeasure(RequestModel):
    """The end of a decision about a measure."""

    model_config = ConfigDict(json_schema_extra={"example": {"reason": "the reports are out"}})
    tenant: OfTenant = None
    reason: AuditReason


class MeasureOverrideView(ResponseModel):
    """The decision of a person about a measure: in force with all its actions, or not at all."""

    in_force: bool
    until: datetime
    actor: str
    reason: str


class MeasureStateView(ResponseModel):
    """A measure of one scope: whether it is in force, what it judges by, and what a person has decided."""

    name: MeasureName
    tenant: Concerned = None
    tenant_name: str | None = Field(None, description="The name of that tenant. Null if it is not known now.")
    actions: list[MeasureAction] = Field(description="What it does now. Empty: it is not in force.")
    value: float = Field(description="The signal in the last minute that was judged.")
    since: datetime | None = Field(None, description="When its signal brought it into force.")
    judged_until: datetime
    override: MeasureOverrideView | None = Field(None, description="The decision that counts now. Null: the signal.")

    @classmethod
    def of(cls, state: MeasureState, tenant_name: str | None, now: datetime) -> "MeasureStateView":
        """Returns the view of a measure at a time."""
        override = state.override_at(now)
        return cls(
            name=state.name,
            tenant=_public_of(state.tenant_id),
            tenant_name=tenant_name,
            actions=sorted(state.actions_at(now)),
            value=state.value,
            since=state.since,
            judged_until=state.judged_until,
            override=None if override is None else MeasureOverrideView.model_validate(override),
        )


class MeasureDecisionView(ResponseModel):
    """Which cells know a decision. Cells that are down do not: repeat the request when they are back."""

    name: MeasureName
    tenant: Concerned = None
    cells: list[str]
    cells_down: list[str]

    @classmethod
    def of(cls, scope: MeasureScope, copies: DecisionCopies) -> "MeasureDecisionView":
        """Returns the view of a decision."""
        return cls(
            name=scope.name, tenant=_public_of(scope.tenant_id), cells=copies.cells, cells_down=copies.cells_down
        )


def _public_of(tenant_id: UUID) -> str | None:
    """Returns the id of a tenant; None for the whole platform."""
    return None if tenant_id == PLATFORM_SCOPE else public(Prefix.TENANT, tenant_id)
