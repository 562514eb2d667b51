"""Requests about plans. Each is safe to repeat: a plan that was applied has nothing left to do."""

from collections.abc import Mapping
from typing import Any

from horae_client.models import AppliedPlan, Plan
from horae_client.wire import Request, path

Jobs = Mapping[str, Mapping[str, Any]]
Windows = Mapping[str, Mapping[str, float]]


def make(owner: str, jobs: Jobs, prune: bool, force: bool) -> Request[Plan]:
    """Compare declared jobs with the stored ones."""
    return Request("POST", path("plans"), Plan, body=_source(owner, jobs, prune, force))


def apply(owner: str, jobs: Jobs, prune: bool, force: bool, after: str = "") -> Request[AppliedPlan]:
    """Apply the part of a plan after a name."""
    body = _source(owner, jobs, prune, force) | {"after": after}
    return Request("POST", path("plans", "apply"), AppliedPlan, body=body)


def make_spread(windows: Windows) -> Request[Plan]:
    """Compare spread windows with those of the stored jobs."""
    return Request("POST", path("plans"), Plan, body={"spread": windows})


def apply_spread(windows: Windows) -> Request[AppliedPlan]:
    """Set spread windows."""
    return Request("POST", path("plans", "apply"), AppliedPlan, body={"spread": windows})


def _source(owner: str, jobs: Jobs, prune: bool, force: bool) -> dict[str, Any]:
    return {"owner": owner, "jobs": jobs, "prune": prune, "force": force}
