"""Models of graphs: their steps, and their runs."""

from datetime import datetime
from typing import Annotated, Any, Final
from uuid import UUID

from pydantic import ConfigDict, Field, StrictInt, StrictStr

from horae.api.models.attempt_rules import EXPIRES_AFTER, PriorityWord, RetrySpec
from horae.api.models.base import Name, Number, Payload, RequestModel, ResponseModel
from horae.api.models.limits import LimitSpec
from horae.api.models.showing import show_as, show_one_of
from horae.api.models.targets import Target, TargetView
from horae.domain.graphs.checks import sorted_plan
from horae.domain.graphs.graphs import LONGEST_STEP_NAME, MAX_CHILDREN, MAX_NEEDS, MAX_RUN_S, MIN_RUN_S, NeedsRule
from horae.domain.graphs.runs import RunState, StepState
from horae.domain.ids import Prefix, public
from horae.domain.jobs.jobs import MAX_EXPIRES_AFTER_S, MIN_EXPIRES_AFTER_S, Definition, StepRequest
from horae.service.graphs.runs import ChildRow, GraphRun, RunDetail, StepRow

StepName = Annotated[StrictStr, Field(min_length=1, max_length=LONGEST_STEP_NAME, pattern="^[A-Za-z0-9_.-]+$")]
RunDeadline = Annotated[Number, Field(ge=MIN_RUN_S, le=MAX_RUN_S)]
RUN_DEADLINE: Final = (
    "Seconds that a run of a graph may take, waiting for people included; then it is DEAD. The default is one day."
)
NEEDS: Final = "The steps that must have ended before this one may start."
RULE: Final = (
    "When the step runs, by the ends of the steps that it needs: all of them succeeded (`all_success`), all have ended "
    "(`all_done`), one failed (`any_failed`), all have ended and none failed (`none_failed`)."
)
EACH: Final = (
    'Makes a mapped step: a reference to a list of up to 10,000 elements, `{"$result": "extract", "path": "items"}` '
    'or `{"$run": "payload"}`. The step runs once for each element, which its payload takes as `{"$item": true}`.'
)
CONCURRENCY: Final = "How many elements of a mapped step may run at the same time; null: no bound."
TOLERATED: Final = "The share of elements that may fail before a mapped step is DEAD: 0 to 1."
CHILDREN: Final = "How many elements the list of a mapped step has; null for other steps, and before it starts."
CHILD_STATES: Final = (
    "How many elements of a mapped step are in each state; null for other steps, before it starts, and in runs of more "
    "than 20,000 elements."
)
QUEUE: Final = "The default is the pull queue with the names of the graph and the step: `graph.step`."


class StepSpec(RequestModel):
    """A step of a graph: what it needs, and the call that it makes."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"name": "load", "needs": ["extract"], "target": {"kind": "http", "url": "https://example.com/load"}}
            ]
        }
    )

    name: StepName
    needs: Annotated[list[StepName], Field(max_length=MAX_NEEDS)] = Field([], description=NEEDS)
    rule: NeedsRule = Field(NeedsRule.ALL_SUCCESS, description=RULE)
    each: dict[str, Any] | None = Field(None, description=EACH)
    concurrency: Annotated[StrictInt, Field(ge=1, le=MAX_CHILDREN)] | None = Field(None, description=CONCURRENCY)
    tolerated_failures: Annotated[Number, Field(ge=0, le=1)] = Field(0, description=TOLERATED)
    target: Target | None = Field(None, description=QUEUE)
    priority: PriorityWord | None = Field(None, description="The default is the priority of the graph.")
    payload: Payload = None
    retry: RetrySpec = RetrySpec()
    limit: LimitSpec | None = None
    quotas: Annotated[list[Name], Field(max_length=20)] = []
    expires_after: Annotated[Number, Field(ge=MIN_EXPIRES_AFTER_S, le=MAX_EXPIRES_AFTER_S)] | None = Field(
        None, description=EXPIRES_AFTER
    )


class StepView(ResponseModel):
    """A step of a graph, with all defaults filled in."""

    name: str
    needs: list[str] = Field(description=NEEDS)
    rule: NeedsRule = Field(description=RULE)
    each: dict[str, Any] | None = Field(None, description=EACH)
    concurrency: int | None = Field(None, description=CONCURRENCY)
    tolerated_failures: float = Field(0, description=TOLERATED)
    target: TargetView
    priority: PriorityWord
    payload: Any = None
    retry: RetrySpec
    limit: LimitSpec | None = None
    quotas: list[str] = []
    expires_after: float | None = Field(None, description=EXPIRES_AFTER)

    @classmethod
    def of(cls, step: StepRequest) -> "StepView":
        """Returns the view of a declared step."""
        made = step.definition
        return cls(
            name=step.plan.name,
            needs=list(step.plan.needs),
            rule=step.plan.rule,
            each=step.plan.each,
            concurrency=step.plan.concurrency,
            tolerated_failures=step.plan.tolerated_failures,
            target=show_one_of(TargetView, made.target),
            priority=made.priority.name.lower(),  # type: ignore[arg-type]
            payload=made.payload,
            retry=show_as(RetrySpec, made.retry),
            limit=None if made.limit is None else show_as(LimitSpec, made.limit),
            quotas=list(made.quotas),
            expires_after=made.expires_after,
        )


class GraphRunView(ResponseModel):
    """A run of a graph. Its id is the id of its instance."""

    id: str = Field(examples=["ins_01hv3zq5k8e9r7t2m4n6p8s0v1"])
    job_id: str
    job_version: int = Field(description="The version of the graph that the run began with, and goes on with.")
    fire_time: datetime
    started_at: datetime
    deadline_at: datetime
    ended_at: datetime | None = None
    state: RunState
    blocked: bool = Field(description="Whether a failed step keeps others from running: the run waits for a person.")

    @classmethod
    def of(cls, run: GraphRun) -> "GraphRunView":
        """Returns the view of a run."""
        return cls(**_run_fields(run))


class RunStepView(ResponseModel):
    """A step of a run."""

    name: str
    needs: list[str] = Field(description=NEEDS)
    rule: NeedsRule = Field(description=RULE)
    state: StepState
    reason: str | None = Field(None, description="Why it ended so: an error code, or what a person did.")
    instance_id: str | None = Field(None, description="Its newest instance, with the attempts; null: it never ran.")
    generation: int = Field(description="How often it was run again after a success: each time with a new key.")
    changed_at: datetime
    children: int | None = Field(None, description=CHILDREN)
    child_states: dict[StepState, int] | None = Field(
        None, description=CHILD_STATES, examples=[{"SUCCESS": 97, "DEAD": 3}]
    )


class GraphChildView(ResponseModel):
    """An element of a mapped step in a run."""

    number: int = Field(description="Its place in the list of the step, from 0.")
    state: StepState
    reason: str | None = Field(None, description="Why it ended so: an error code, or what a person did.")
    instance_id: str | None = Field(None, description="Its newest instance, with the attempts; null: it never ran.")
    changed_at: datetime

    @classmethod
    def of(cls, child: ChildRow) -> "GraphChildView":
        """Returns the view of a child."""
        return cls(**child._asdict() | {"instance_id": _instance_id(child.instance_id)})


class GraphRunDetail(GraphRunView):
    """A run with its steps, each behind those that it needs."""

    steps: list[RunStepView]

    @classmethod
    def whole(cls, found: RunDetail) -> "GraphRunDetail":
        """Returns the view of a run with its steps."""
        planned = {step.name: step for step in found.graph.steps}
        steps = [
            RunStepView(
                name=row.name,
                needs=list(planned[row.name].needs),
                rule=planned[row.name].rule,
                state=row.state,
                reason=row.reason,
                instance_id=_instance_id(row.instance_id),
                generation=row.generation,
                changed_at=row.changed_at,
                children=row.children,
                child_states=_child_states(row, found),
            )
            for row in found.steps
        ]
        return cls(**_run_fields(found.run), steps=steps)


def step_views(made: Definition) -> list[StepView] | None:
    """Returns the views of the steps that a definition declares; None if it declares none."""
    return None if made.graph_plan is None else [StepView.of(step) for step in sorted_plan(made.graph_plan)]


def run_deadline(made: Definition) -> float | None:
    """Returns how many seconds a run of a graph may take; None for other jobs."""
    found = made.graph or made.graph_plan
    return None if found is None else found.deadline


def _instance_id(id_: UUID | None) -> str | None:
    return None if id_ is None else public(Prefix.INSTANCE, id_)


def _child_states(row: StepRow, found: RunDetail) -> dict[StepState, int] | None:
    return None if row.children is None or found.child_states is None else found.child_states.get(row.position, {})


def _run_fields(run: GraphRun) -> dict[str, Any]:
    return run._asdict() | {"id": public(Prefix.INSTANCE, run.id), "job_id": public(Prefix.JOB, run.job_id)}
