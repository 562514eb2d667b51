"""A graph: the steps of a job, what each of them needs, and which names and shapes are refused.

A graph is stored in the definition of its job, compiled: each step names the step job that runs it, which has the
target, the retries and the priority of the step. Steps are stored in an order in which every step stands behind the
steps that it needs.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, NamedTuple
from uuid import UUID

import msgspec

from horae.domain.errors import Invalid
from horae.domain.graphs.parameters import Parameter, ParameterKind, RunFact, parameter_of, parameters_of

MAX_STEPS: Final = 1000
MAX_NEEDS: Final = 100
"""Steps that one step may need."""
MAX_EDGES: Final = 10_000
"""Needs of all steps together. One pass over a graph takes a few milliseconds then."""
LONGEST_STEP_NAME: Final = 60
MAX_CHILDREN: Final = 10_000
"""Children of a mapped step: elements of its list."""
MIN_RUN_S: Final = 1.0
MAX_RUN_S: Final = 30 * 86_400.0
"""Seconds that a run may take, waiting for people included."""
DEFAULT_RUN_S: Final = 86_400.0
GRAPH_QUEUE: Final = "horae.graphs"
"""The queue in which runs wait until a node starts them. No worker may claim from it."""


class NeedsRule(StrEnum):
    """When a step runs, by the states of the steps that it needs."""

    ALL_SUCCESS = "all_success"
    """All of them succeeded."""
    ALL_DONE = "all_done"
    """All of them have ended, however."""
    ANY_FAILED = "any_failed"
    """At least one of them failed."""
    NONE_FAILED = "none_failed"
    """All of them have ended, and none failed."""


class StepPlan(msgspec.Struct, frozen=True):
    """The name of a step and what it needs, as its author says it.

    A mapped step has `each`: a reference to a list (`domain/graphs/parameters.py`). It runs once for each element, at
    most `concurrency` children at once, and succeeds if no greater share of them failed than `tolerated_failures`.
    """

    name: str
    needs: tuple[str, ...] = ()
    rule: NeedsRule = NeedsRule.ALL_SUCCESS
    each: dict[str, Any] | None = None
    concurrency: int | None = None
    tolerated_failures: float = 0.0


class GraphStep(msgspec.Struct, frozen=True, omit_defaults=True):
    """A step as stored: its plan, and what a new instance of its step job needs.

    `parameters`: its payload has to be resolved. `reads` are the steps whose results it takes, `reads_payload` says
    whether it takes the payload of the run. A step without parameters is released without reading anything.
    """

    name: str
    job_id: UUID
    job_version: int
    slot_ms: int
    priority: int
    queue: str | None = None
    needs: tuple[str, ...] = ()
    rule: NeedsRule = NeedsRule.ALL_SUCCESS
    each: dict[str, Any] | None = None
    concurrency: int | None = None
    tolerated_failures: float = 0.0
    parameters: bool = False
    reads: tuple[str, ...] = ()
    reads_payload: bool = False


class StepReads(NamedTuple):
    """What the parameters of a step take: results of steps, and whether the payload of the run."""

    results: tuple[str, ...]
    payload: bool


class Graph(msgspec.Struct, frozen=True, omit_defaults=True):
    """The steps of a graph, each behind those that it needs, and how many seconds a run may take.

    `former` are steps of earlier versions: their step jobs are kept while a run of such a version may need them.
    """

    steps: tuple[GraphStep, ...]
    deadline: float = DEFAULT_RUN_S
    former: tuple[GraphStep, ...] = ()


def plan_of(step: GraphStep) -> StepPlan:
    """Return a stored step as its author said it."""
    return StepPlan(**{field: getattr(step, field) for field in StepPlan.__struct_fields__})


def check_deadline(seconds: float) -> None:
    """Refuse a deadline of runs that is too short or too long."""
    if not MIN_RUN_S <= seconds <= MAX_RUN_S:
        raise Invalid(f"the deadline of a run is {MIN_RUN_S:.0f} to {MAX_RUN_S:.0f} seconds")


def ordered(plans: Sequence[StepPlan]) -> list[StepPlan]:
    """Return the steps, each behind those that it needs, otherwise in the given order.

    Refuses no steps, too many, bad or double names, unknown needs, too many needs, and circles. A step can be
    unreachable only in a circle: every other one is reached from a step without needs.
    """
    if not 1 <= len(plans) <= MAX_STEPS:
        raise Invalid(f"a graph has 1 to {MAX_STEPS} steps, not {len(plans)}")
    by_name = {plan.name: plan for plan in plans}
    for plan in plans:
        _check_step(plan, by_name)
    if len(by_name) < len(plans):
        names = [plan.name for plan in plans]
        raise Invalid(f"two steps have the name {next(name for name in names if names.count(name) > 1)!r}")
    if sum(len(plan.needs) for plan in plans) > MAX_EDGES:
        raise Invalid(f"the steps of a graph have at most {MAX_EDGES} needs together")
    return _sort(plans)


def steps_before(plans: Sequence[StepPlan]) -> dict[str, set[str]]:
    """Return for each step those that it needs, directly or not; `plans` are in the order of the graph."""
    masks: dict[str, int] = {}
    for number, plan in enumerate(plans):
        masks[plan.name] = 1 << number
        for need in plan.needs:
            masks[plan.name] |= masks[need]
    return {
        plan.name: {other.name for place, other in enumerate(plans[:number]) if masks[plan.name] >> place & 1}
        for number, plan in enumerate(plans)
        if plan.needs
    }


def reads_of(plan: StepPlan, payload: Any, before: Collection[str]) -> StepReads:
    """Return what a step reads when it is released. Refuses a result of a step that does not lie before it."""
    parameters = parameters_of(payload)
    source = list_of(plan)
    if source is None and any(one.kind == ParameterKind.ITEM for one in parameters):
        raise Invalid(f"step {plan.name!r} has no list, so '$item' stands for nothing")
    everything = [*parameters, source] if source else parameters
    results = {one.name for one in everything if one.kind == ParameterKind.RESULT}
    if strange := sorted(results - set(before)):
        raise Invalid(f"step {plan.name!r} takes the result of {strange[0]!r}, which does not lie before it")
    takes_payload = any(one.kind == ParameterKind.RUN and one.name == RunFact.PAYLOAD for one in everything)
    return StepReads(tuple(sorted(results)), takes_payload)


def list_of(step: StepPlan | GraphStep) -> Parameter | None:
    """Return the reference to the list of a mapped step; None for any other step. Refuses what is malformed."""
    if step.each is None:
        if step.concurrency is not None or step.tolerated_failures:
            raise Invalid(f"step {step.name!r} has no list: concurrency and tolerated_failures have no effect")
        return None
    found = parameter_of(step.each)
    takes_list = found is not None and (found.kind, found.name) in {
        (ParameterKind.RUN, RunFact.PAYLOAD),
        (ParameterKind.RESULT, found.name),
    }
    if found is None or not takes_list:
        raise Invalid(f"the list of step {step.name!r} is a '$result', or the '$run' payload")
    if step.concurrency is not None and not 1 <= step.concurrency <= MAX_CHILDREN:
        raise Invalid(f"the concurrency of a step is 1 to {MAX_CHILDREN}")
    if not 0 <= step.tolerated_failures <= 1:
        raise Invalid("tolerated_failures is a share: 0 to 1")
    return found


def _check_step(plan: StepPlan, known: Mapping[str, StepPlan]) -> None:
    name = plan.name
    plain = all(letter.isalnum() or letter in "_-." for letter in name)
    if not name or len(name) > LONGEST_STEP_NAME or not name.isascii() or not plain:
        raise Invalid(
            f"a step's name is 1 to {LONGEST_STEP_NAME} letters, digits, dots, dashes and underscores, not {name!r}"
        )
    if len(plan.needs) > MAX_NEEDS:
        raise Invalid(f"step {name!r} needs {len(plan.needs)} steps; at most {MAX_NEEDS} are allowed")
    if len(set(plan.needs)) < len(plan.needs):
        raise Invalid(f"step {name!r} names a step twice in its needs")
    if unknown := [need for need in plan.needs if need not in known]:
        raise Invalid(f"step {name!r} needs {unknown[0]!r}, which is not a step of this graph")
    if not plan.needs and plan.rule != NeedsRule.ALL_SUCCESS:
        raise Invalid(f"step {name!r} needs no other step, so the rule {plan.rule} has no effect")


def _sort(plans: Sequence[StepPlan]) -> list[StepPlan]:
    """Sort by needs. Each round takes the steps whose needs are all taken; what is left at the end is in a circle."""
    missing = {plan.name: len(plan.needs) for plan in plans}
    followers = followers_of((plan.name, plan.needs) for plan in plans)
    by_name = {plan.name: plan for plan in plans}
    ready = [plan.name for plan in plans if not plan.needs]
    taken: list[StepPlan] = []
    for name in ready:  # grows while it is read
        taken.append(by_name[name])
        for follower in followers.get(name, ()):
            missing[follower] -= 1
            if not missing[follower]:
                ready.append(follower)
    if len(taken) < len(plans):
        circle = sorted(name for name, count in missing.items() if count)
        raise Invalid(f"steps need each other in a circle: {', '.join(circle[:10])}")
    return taken


def followers_of(steps: Iterable[tuple[str, Sequence[str]]]) -> dict[str, list[str]]:
    """Return for each step the steps that need it, given the needs of each step."""
    found: dict[str, list[str]] = {}
    for name, needs in steps:
        for need in needs:
            found.setdefault(need, []).append(name)
    return found
