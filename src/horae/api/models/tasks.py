"""Models of tasks, as msgspec structs: these are the busiest routes."""

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta
from pydantic import Field

from horae.api.models import base
from horae.api.models.base import ResponseModel
from horae.api.problems import body_of
from horae.domain.errors import HoraeError
from horae.domain.ids import Prefix, public
from horae.domain.instances.lifecycle import State
from horae.domain.tasks.tasks import LONGEST_KEY, Decision, IgnoreReason
from horae.service.tasks import tasks
from horae.service.tasks.batches import LARGEST, TaskIntent

LedgerWord = Literal["created", "moved", "replaced", "ignored", "cancelled", "replayed"]
Moment = Annotated[datetime, Meta(tz=True)]
At = Annotated[
    Moment | None, Meta(description="The time of the task; the default is now. A time in the past is due now.")
]
Payload = Annotated[
    Any, Meta(description="The payload for the target or worker. Omit it to keep the payload of a moved task.")
]
Version = Annotated[
    int | None, Meta(description="The version of your event. An event that is not newer than the last one is ignored.")
]
Key = Annotated[str, Meta(min_length=1, max_length=LONGEST_KEY, description="The business key: your own id.")]


class PutTask(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A new time for a business key, and optionally a new payload."""

    at: At = None
    payload: Payload = msgspec.UNSET
    version: Version = None


class PutTaskItem(TaskIntent, frozen=True, forbid_unknown_fields=True):
    """A business key of a batch, and its new time."""

    key: Key
    at: At = None
    payload: Payload = msgspec.UNSET
    version: Version = None


class PutTasks(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """New times for many business keys of one type. They are decided in this order."""

    tasks: Annotated[list[PutTaskItem], Meta(max_length=LARGEST)]


class CancelTaskItem(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A business key of a batch whose task is cancelled."""

    key: Key
    version: Version = None


class CancelTasks(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Business keys of one type whose tasks are cancelled."""

    tasks: Annotated[list[CancelTaskItem], Meta(max_length=LARGEST)]


class TaskAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """The decision about a task. `revision` counts the changes of the business key."""

    decision: Decision
    revision: int
    instance_id: str | None = None
    at: Moment | None = None
    reason: IgnoreReason | None = None
    replaced_id: str | None = None

    @classmethod
    def of(cls, answer: tasks.ScheduleAnswer) -> "TaskAnswer":
        """Returns the answer of the API."""
        instance_id, replaced = answer.instance_id, answer.replaced_id
        return cls(
            answer.decision,
            answer.revision,
            None if instance_id is None else public(Prefix.INSTANCE, instance_id),
            answer.at,
            answer.reason,
            None if replaced is None else public(Prefix.INSTANCE, replaced),
        )


class ItemProblem(msgspec.Struct, frozen=True):
    """Why a task of a batch was refused: the same problem that a single request gets."""

    type: str
    title: str
    status: int
    detail: str
    code: str


class TaskResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of one task of a batch: its answer, or its problem."""

    key: str
    answer: TaskAnswer | None = None
    problem: ItemProblem | None = None

    @classmethod
    def of(cls, key: str, answer: tasks.ScheduleAnswer | HoraeError) -> "TaskResult":
        """Returns the result of the API."""
        if isinstance(answer, HoraeError):
            said = body_of(answer)
            return cls(key, problem=ItemProblem(*(said[name] for name in ItemProblem.__struct_fields__)))
        return cls(key, TaskAnswer.of(answer))


class TaskResults(msgspec.Struct, frozen=True):
    """The results of a batch, in the order of the request."""

    items: list[TaskResult]


class LiveTask(ResponseModel):
    """The live instance of a task."""

    instance_id: str
    state: State
    at: datetime
    due_at: datetime
    attempt: int
    retry_count: int
    error: str | None
    payload: Any


class DecisionView(ResponseModel):
    """An entry of the ledger of a business key: the decision, its time and actor, and the requested time."""

    decision: LedgerWord
    on: base.UtcTime = Field(description="The time of the decision.")
    by: str = ""
    at: base.UtcTime | None = Field(None, description="The requested time.")
    reason: IgnoreReason | None = Field(None, description="The reason why it was ignored.")


class TaskView(ResponseModel):
    """A task: its live instance, its latest state, and its last twenty decisions, oldest first."""

    type: str
    key: str
    generation: int
    revision: int
    version: int | None
    outcome: State | None
    instance_id: str
    live: LiveTask | None
    decisions: list[DecisionView]

    @classmethod
    def of(cls, type_name: str, key: str, detail: tasks.TaskDetail) -> "TaskView":
        """Returns the view of a task."""
        live, ledger = detail.known.live, detail.known.ledger
        assert ledger is not None
        return cls(
            type=type_name,
            key=key,
            generation=ledger.generation,
            revision=ledger.revision,
            version=ledger.intent_version,
            outcome=ledger.outcome,
            instance_id=public(Prefix.INSTANCE, ledger.instance_id),
            live=None
            if live is None
            else LiveTask(
                instance_id=public(Prefix.INSTANCE, live.id),
                state=live.state,
                at=live.fire_time,
                due_at=live.due_at,
                attempt=live.attempt,
                retry_count=live.retry_count,
                error=live.error_msg,
                payload=live.payload,
            ),
            decisions=[DecisionView.model_validate(one) for one in detail.decisions],
        )
