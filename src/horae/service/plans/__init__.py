"""Schedules as code: what a source declares beside what is there, and the steps between them."""

from horae.service.plans.applying import Done, apply
from horae.service.plans.planning import Line, Plan, plan

__all__ = ["Done", "Line", "Plan", "apply", "plan"]
