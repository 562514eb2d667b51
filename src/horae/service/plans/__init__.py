"""Schedules as code: compare the jobs that a source declares with the stored jobs, and apply the difference.

`planning` reads and compares, and writes nothing. `applying` runs the steps of a plan by the operations of `jobs` and
`schedules`. How a step is decided is in `horae.domain.plans.plans`; how a file is read is in `horae.boot`.
"""

from horae.service.plans.applying import AppliedStep, apply
from horae.service.plans.planning import PlanLine, SourcePlan, plan, plan_spread

__all__ = ["AppliedStep", "PlanLine", "SourcePlan", "apply", "plan", "plan_spread"]
