"""Holds as they are shown."""

from datetime import datetime
from typing import Final, Literal
from uuid import UUID

from pydantic import ConfigDict, Field

from horae.api.models.base import Shown
from horae.domain.holds import Hold
from horae.domain.ids import Prefix, public

GateKinds = Literal["target", "limit"]
HeldLanes = Literal["first", "retry", "any"]
HoldReasons = Literal["breaker", "retry_budget", "target_cap", "concurrency", "rate"]
REASONS: Final = (
    "`breaker`: the circuit breaker of the target is open, because it did not answer as it should; one call probes it "
    "at `next_try_at`. `retry_budget`: the target has no retry left in its budget; at least one a second passes. "
    "`target_cap`: as many calls are under way as the target's `max_concurrency` allows, or as it earned by answering. "
    "`rate`: a limit of calls a second is reached. `concurrency`: a limit of calls at the same time is reached."
)


class HoldView(Shown):
    """Calls that are due and held back, of all nodes together. No attempt is counted while they wait."""

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
    kind: GateKinds = Field(description="What holds them back: a target, or a limit that nodes share.")
    name: str = Field(description="The target's URL; of a limit `tenant`, `job/…`, `quota/…` or `target/…`.")
    lane: HeldLanes = Field(description="Which calls: first attempts and backfills, retries, or any.")
    since: datetime = Field(description="Since when calls have been held back for this reason.")
    next_try_at: datetime | None = Field(
        None,
        description="When the next call is tried, always ahead; null: it waits for a place, or a probe is under way.",
    )
    waiting: int = Field(description="How many calls nodes hold in memory; more may wait in their rows behind them.")

    @classmethod
    def of(cls, hold: Hold) -> "HoldView":
        """A hold as it is shown."""
        return cls.model_validate(
            {
                "reason": hold.reason.lower(),
                "kind": hold.gate.kind.lower(),
                "name": _shown(hold.gate.name),
                "lane": hold.lane.lower(),
                "since": hold.since,
                "next_try_at": hold.next_try_at,
                "waiting": hold.waiting,
            }
        )


def _shown(name: str) -> str:
    """A gate's name with the id of a job as everyone knows it."""
    if not name.startswith("job/"):
        return name
    return f"job/{public(Prefix.JOB, UUID(name.removeprefix('job/')))}"
