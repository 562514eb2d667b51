"""A job is a definition: when to fire, what to call, and under which policies. Its versions are never edited."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

import msgspec

from horae.domain.encryption.encrypted_values import EncryptedValue, UndecryptableValue
from horae.domain.errors import Conflict, Invalid
from horae.domain.graphs.graphs import DEFAULT_RUN_S, GRAPH_QUEUE, Graph, StepPlan
from horae.domain.ids import shard_in
from horae.domain.instances.instances import Priority
from horae.domain.instances.retries import RetryPolicy
from horae.domain.jobs.edges import After
from horae.domain.jobs.people import check_alert_limits, check_contacts, check_texts
from horae.domain.limits.limits import Limit
from horae.domain.names import LONGEST_NAME
from horae.domain.schedules import OnOverlap, Override, Policies, Schedule
from horae.domain.schedules.calendars import Calendar
from horae.domain.schedules.triggers import (
    CronTrigger,
    DelayTrigger,
    IntervalTrigger,
    KeyedTrigger,
    ManualTrigger,
    OnceTrigger,
    RollingTrigger,
    Trigger,
    TriggerKind,
)
from horae.domain.targets.targets import QueueTarget, Target, queue_of
from horae.domain.tasks.tasks import AfterSuccess

MOST_LABELS: Final = 32
LONGEST_LABEL: Final = 63
"""Characters of a label's key, and of its value."""
MIN_EXPIRES_AFTER_S: Final = 1.0
MAX_KEY_RETENTION_DAYS: Final = 3650
MAX_EXPIRES_AFTER_S: Final = 366 * 86_400.0
LAST_VERSION: Final = 2**31 - 1
"""The highest number that the column of a version holds."""
SINGLE: Final = "fired once"
"""The kind of a job that fires once, in messages."""


class Status(StrEnum):
    """The status of a job as a whole."""

    ACTIVE = "ACTIVE"
    PAUSED = "PAUSED"
    COMPLETED = "COMPLETED"
    REMOVED = "REMOVED"


class StepRequest(msgspec.Struct, frozen=True):
    """A declared step: what it needs, and the definition that its calls follow."""

    plan: StepPlan
    definition: "Definition"


class GraphPlan(msgspec.Struct, frozen=True):
    """The declared steps of a graph, and how many seconds a run may take."""

    steps: tuple[StepRequest, ...]
    deadline: float = DEFAULT_RUN_S


class Definition(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a person defines about a job; stored whole, once per version.

    `sealed` holds the encrypted payload and the encrypted headers, query and body of the target; these fields are empty
    then. `expires_after` is how many seconds a due instance may wait; None: the default of
    `domain/instances/expiry.py`. The six fields from `description` on are for people and alerts, and fires do not
    depend on them: `late_after` is in seconds after the fire time without a first attempt, `fail_after` in failed runs
    in a row.
    `graph` are the steps of a graph, compiled, and `graph_plan` the same as declared: it is in memory only, and a
    definition is stored without it. `step_of` is the graph that a step job belongs to. `after` is the edge by which it
    starts after another job.
    """

    trigger: Trigger
    target: Target
    retry: RetryPolicy = RetryPolicy()
    policies: Policies = Policies()
    overrides: tuple[Override, ...] = ()
    priority: Priority = Priority.NORMAL
    payload: Any = None
    labels: dict[str, str] = {}
    after_success: AfterSuccess = AfterSuccess.IGNORE
    width: int | None = None
    key_retention_days: int | None = None
    limit: Limit | None = None
    quotas: tuple[str, ...] = ()
    sealed: EncryptedValue | None = None
    expires_after: float | None = None
    description: str | None = None
    owner: str | None = None
    runbook: str | None = None
    contacts: tuple[str, ...] = ()
    late_after: int | None = None
    fail_after: int | None = None
    graph: Graph | None = None
    graph_plan: GraphPlan | None = None
    step_of: UUID | None = None
    after: After | None = None

    def __post_init__(self) -> None:
        check_texts(self.description, self.owner, self.runbook)
        check_contacts(self.contacts)
        check_alert_limits(self.late_after, self.fail_after)
        if (queue_of(self.target) == GRAPH_QUEUE) != self.is_graph:
            raise Invalid(f"the queue {GRAPH_QUEUE!r} is for the runs of graphs")
        if self.expires_after is not None and not MIN_EXPIRES_AFTER_S <= self.expires_after <= MAX_EXPIRES_AFTER_S:
            raise Invalid(f"expires_after is {MIN_EXPIRES_AFTER_S:.0f} to {MAX_EXPIRES_AFTER_S:.0f} seconds")
        if self.after is not None and not isinstance(self.trigger, ManualTrigger | KeyedTrigger):
            raise Invalid("after belongs to a job or graph that is fired by hand, or to a type of tasks")
        if self.key_retention_days is not None:
            if not isinstance(self.trigger, KeyedTrigger):
                raise Invalid("key_retention_days belongs to a type of tasks: only tasks have business keys")
            if not 1 <= self.key_retention_days <= MAX_KEY_RETENTION_DAYS:
                raise Invalid(f"key_retention_days is 1 to {MAX_KEY_RETENTION_DAYS} days")

    @property
    def is_keyed(self) -> bool:
        """Whether it is the definition of a type of tasks."""
        return isinstance(self.trigger, KeyedTrigger)

    @property
    def is_graph(self) -> bool:
        """Whether it is the definition of a graph, with its steps declared or compiled."""
        return self.graph is not None or self.graph_plan is not None


def check_limits(definition: Definition) -> None:
    """Refuse limits that would have no effect: workers claim from a queue as much as they ask for."""
    if isinstance(definition.target, QueueTarget) and (definition.limit is not None or definition.quotas):
        raise Invalid(
            "limit and quotas hold for calls that Horae makes; how much of a queue runs at once its workers decide"
        )


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A job as stored. `changed_at` is None where it was not read."""

    shard: int
    id: UUID
    tenant_id: UUID
    name: str
    version: int
    status: Status
    definition: Definition
    next_fire_at: datetime | None = None
    changed_at: datetime | None = None

    def schedule(self, calendars: Mapping[str, Calendar]) -> Schedule:
        """Return its trigger with everything that affects its fires."""
        made = self.definition
        return Schedule(
            trigger=made.trigger,
            key=str(self.id),
            policies=made.policies,
            overrides=made.overrides,
            calendars=calendars,
        )

    @property
    def calendars(self) -> list[str]:
        """The names of the calendars in its schedule."""
        return [rule.calendar for rule in self.definition.policies.calendars]

    @property
    def recurring(self) -> bool:
        """Whether a cursor creates its fires."""
        return isinstance(self.definition.trigger, CronTrigger | IntervalTrigger)

    @property
    def exclusive(self) -> bool:
        """Whether its overlap policy restricts fires that would run at the same time."""
        return self.definition.policies.overlap is not OnOverlap.ALLOW

    @property
    def is_step(self) -> bool:
        """Whether it runs a step of a graph."""
        return self.definition.step_of is not None

    @property
    def ends_alone(self) -> bool:
        """Whether the end of an instance of it changes no other row."""
        made = self.definition  # asked for every result: so the three questions are not calls of their own
        plain = made.step_of is None and made.policies.overlap is OnOverlap.ALLOW
        return plain and not isinstance(made.trigger, OnceTrigger | DelayTrigger)

    @property
    def keyed(self) -> bool:
        """Whether it is a type whose tasks have business keys."""
        return self.definition.is_keyed

    @property
    def rolling(self) -> bool:
        """Whether it owns subjects that are refreshed in turn."""
        return isinstance(self.definition.trigger, RollingTrigger)

    @property
    def spread(self) -> bool:
        """Whether its instances lie in the shards of their keys; every cell knows such a job."""
        return self.keyed or self.rolling

    @property
    def is_unreadable(self) -> bool:
        """Whether parts of its definition are placeholders, for display only: such a job is never written back."""
        return isinstance(self.definition.sealed, UndecryptableValue)

    @property
    def single(self) -> bool:
        """Whether it fires once, under the rules of a task whose key is the job itself."""
        return isinstance(self.definition.trigger, OnceTrigger | DelayTrigger)


def new_job(id_: UUID, tenant_id: UUID, name: str, definition: Definition) -> Job:
    """Return a job at its first version. It lives in the shard of its id."""
    return Job(
        shard=shard_in(id_),
        id=id_,
        tenant_id=tenant_id,
        name=name,
        version=1,
        status=Status.ACTIVE,
        definition=definition,
    )


class JobFilter(msgspec.Struct, frozen=True):
    """Which living jobs are meant; an empty field matches all.

    `with_labels`: labels with any value. `contains`: a part of the name, in any case. `names`: exactly these.
    `calendar`: the active and paused jobs that use it. `secret`: jobs whose target
    names it.
    """

    status: Status | None = None
    labels: dict[str, str] = {}
    with_labels: tuple[str, ...] = ()
    prefix: str = ""
    kind: TriggerKind | None = None
    owner: str | None = None
    contains: str = ""
    names: tuple[str, ...] = ()
    calendar: str | None = None
    secret: str | None = None

    @property
    def any(self) -> bool:
        """Whether it matches every job."""
        return self == JobFilter()


def check_name(name: str) -> None:
    """Refuse names that cannot be printed, searched or put into a path."""
    if not name or len(name) > LONGEST_NAME or not name.isprintable() or "/" in name or name != name.strip():
        raise Invalid(f"a job's name is 1 to {LONGEST_NAME} printable characters without a slash")


def check_labels(labels: Mapping[str, str]) -> None:
    """Refuse too many labels, and labels that cannot be part of a query string."""
    if len(labels) > MOST_LABELS:
        raise Invalid(f"a job has at most {MOST_LABELS} labels")
    for key, value in labels.items():
        if not 0 < len(key) <= LONGEST_LABEL or not key.isprintable() or any(letter in key for letter in "=,"):
            raise Invalid(f"a label's key is 1 to {LONGEST_LABEL} printable characters without '=' and ','")
        if len(value) > LONGEST_LABEL or (value and not value.isprintable()) or "," in value:
            raise Invalid(f"a label's value is at most {LONGEST_LABEL} printable characters without ','")


def check_change(before: Definition, after: Definition) -> None:
    """Refuse a new version of another kind: the job's rows have the kind that it was created with."""
    if before.step_of != after.step_of:
        raise Invalid("a step is changed with its graph")
    if before.is_graph and after.graph_plan is None:
        raise Invalid("the next version of a graph lists its steps; make another job where you need one without")
    if after.is_graph and not before.is_graph:
        raise Invalid("a job without steps cannot become a graph; make another one")
    kinds = [_kind(one.trigger) for one in (before, after)]
    if kinds[0] != kinds[1]:
        raise Invalid(f"a job that is {kinds[0]} cannot become {kinds[1]}; make another one")
    if before.width != after.width:
        raise Invalid("a type's width is fixed when it is made")
    if kinds[0] == SINGLE and before.trigger != after.trigger:
        raise Invalid("the time of a job that fires once is set as a task's: its type is the job, its key is 'self'")


def own_queue(name: str) -> Target:
    """Return the default target of a job: the pull queue with the job's name."""
    return QueueTarget(name=name)


def check_status(job: Job, allowed: Status, verb: str) -> None:
    """Refuse an action that has no meaning for a job in this status."""
    if job.status is not allowed:
        raise Conflict(f"job {job.name!r} is {job.status}; only an {allowed} job can be {verb}")


def _kind(trigger: Trigger) -> str:
    match trigger:
        case CronTrigger() | IntervalTrigger():
            return "recurring"
        case KeyedTrigger():
            return "a type of tasks"
        case RollingTrigger():
            return "a rolling set"
        case OnceTrigger() | DelayTrigger():
            return SINGLE
        case _:
            return "fired by hand"
