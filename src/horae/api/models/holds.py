"""Models of holds: calls that are due and have to wait."""

from datetime import datetime
from typing import Final, Literal
from uuid import UUID

from pydantic import ConfigDict, Field

from horae.api.models.base import ResponseModel
from horae.domain.ids import Prefix, public
from horae.domain.limits.holds import Hold

GateKinds = Literal["target", "limit", "measure"]
HeldLanes = Literal["first", "retry", "any"]
HoldReasons = Literal["measure", "breaker", "no_answer", "retry_budget", "target_cap", "no_slot", "concurrency", "rate"]
REASONS: Final = (
    "`breaker`: the circuit breaker of the target is open after failed calls; one call probes the target at "
    "`next_try_at`. `retry_budget`: the retry budget of the target is used up; at least one retry per second is sent. "
    "`target_cap`: the target has as many concurrent calls as its `max_concurrency` or its recent answers allow. "
    "`no_slot`: every slot for long calls is in use. "
    "`rate`: a limit of calls per second is reached. `concurrency`: a limit of concurrent calls is reached. "
    "`no_answer`: the target answers nothing. `measure`: a protective measure withholds calls of this priority."
)


class HoldView(ResponseModel):
    """Due calls that a target or a limit holds back, on all nodes together. The wait does not count as an attempt."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "reason": "breaker",
                    "kind": "target",
                    "name": "https://example.com/hook",
                    "lane": "first",
                    "since": "2026-11-16T06:40:28Z",
                    "next_try_at": "2026-11-16T06:41:02Z",
                    "waiting": 467,
                }
            ]
        }
    )

    reason: HoldReasons = Field(description=REASONS)
    kind: GateKinds = Field(description="The kind of the gate: a target, a limit that all nodes share, or a measure.")
    name: str = Field(
        description="The URL of the target; the name of the limit: `tenant`, `job/…`, `quota/…` or `target/…`; or the "
        "name of the measure with the priority that it withholds."
    )
    lane: HeldLanes = Field(description="The lane: `first` (first attempts and backfills), `retry`, or `any`.")
    since: datetime = Field(description="The time since which calls are held back for this reason.")
    next_try_at: datetime | None = Field(
        None,
        description="The time of the next call, in the future. Null while calls wait for a slot or a probe runs.",
    )
    waiting: int = Field(description="The number of calls that nodes hold in memory; more may wait in the database.")

    @classmethod
    def of(cls, hold: Hold) -> "HoldView":
        """Returns the view of a hold."""
        return cls.model_validate(
            {
                "reason": hold.reason.lower(),
                "kind": hold.gate.kind.lower(),
                "name": _display_name(hold.gate.name),
                "lane": hold.lane.lower(),
                "since": hold.since,
                "next_try_at": hold.next_try_at,
                "waiting": hold.waiting,
            }
        )


def _display_name(name: str) -> str:
    """Returns the name of a gate with the public id of the job."""
    if not name.startswith("job/"):
        return name
    return f"job/{public(Prefix.JOB, UUID(name.removeprefix('job/')))}"
