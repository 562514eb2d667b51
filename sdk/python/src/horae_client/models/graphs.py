"""Graphs: their steps and their runs."""

from datetime import datetime
from typing import Any

import msgspec

from horae_client.models.base import Model


class GraphStep(Model, frozen=True, kw_only=True):
    """A step of a graph as it is now, with all defaults."""

    name: str
    needs: list[str] = msgspec.field(default_factory=list)
    rule: str
    target: dict[str, Any]
    priority: str
    retry: dict[str, Any]
    payload: Any = None
    limit: dict[str, Any] | None = None
    quotas: list[str] = msgspec.field(default_factory=list)
    expires_after: float | None = None
    each: dict[str, Any] | None = None
    concurrency: int | None = None
    tolerated_failures: float = 0.0


class RunStep(Model, frozen=True, kw_only=True):
    """A step of a run. `generation` counts how often it was run again after a success.

    `children`: how many elements the list of a mapped step has; `child_states`: how many of them are in each state,
    None in runs of more than 20,000 elements.
    """

    name: str
    needs: list[str] = msgspec.field(default_factory=list)
    rule: str
    state: str
    generation: int
    changed_at: datetime
    reason: str | None = None
    instance_id: str | None = None
    children: int | None = None
    child_states: dict[str, int] | None = None


class GraphChild(Model, frozen=True, kw_only=True):
    """An element of a mapped step in a run. `number` is its place in the list, from 0."""

    number: int
    state: str
    changed_at: datetime
    reason: str | None = None
    instance_id: str | None = None


class GraphRun(Model, frozen=True, kw_only=True):
    """A run of a graph; its id is the id of its instance. `steps` is None in lists.

    `blocked`: a failed step keeps others from running, and the run waits for a person.
    """

    id: str
    job_id: str
    job_version: int
    fire_time: datetime
    started_at: datetime
    deadline_at: datetime
    state: str
    blocked: bool
    ended_at: datetime | None = None
    steps: list[RunStep] | None = None
