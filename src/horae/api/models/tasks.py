"""Tasks as they are asked for and shown: msgspec, because these are the hottest routes."""

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta
from pydantic import Field

from horae.api.models import base
from horae.api.models.base import Shown
from horae.api.problems import body_of
from horae.domain.errors import HoraeError
from horae.domain.ids import Prefix, public
from horae.domain.lifecycle import State
from horae.domain.tasks import LONGEST_KEY, Decision, IgnoreReason
from horae.service import tasks
from horae.service.task_batches import LARGEST, Wish

LedgerWord = Literal["created", "moved", "replaced", "ignored", "cancelled", "replayed"]
Moment = Annotated[datetime, Meta(tz=True)]
At = Annotated[Moment | None, Meta(description="When; now where it is left out. A time that has passed is due now.")]
Payload = Annotated[
    Any, Meta(description="What the target or worker is given. Left out, a moved task keeps what it had.")
]
Version = Annotated[
    int | None, Meta(description="The version of your own event: one that is not newer than the last is ignored.")
]
Key = Annotated[str, Meta(min_length=1, max_length=LONGEST_KEY, description="What your business calls the thing.")]


class PutTask(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A new time for a key, and perhaps a new payload."""

    at: At = None
    payload: Payload = msgspec.UNSET
    version: Version = None


class PutOne(Wish, frozen=True, forbid_unknown_fields=True):
    """One key of a batch, and its new time."""

    key: Key
    at: At = None
    payload: Payload = msgspec.UNSET
    version: Version = None


class PutTasks(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """New times for many keys of one type, in the order in which they are to be decided."""

    tasks: Annotated[list[PutOne], Meta(max_length=LARGEST)]


class CancelOne(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One key of a batch whose task is no longer wanted."""

    key: Key
    version: Version = None


class CancelTasks(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Many keys of one type whose tasks are no longer wanted."""

    tasks: Annotated[list[CancelOne], Meta(max_length=LARGEST)]


class TaskAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was decided. `revision` counts everything that happened to the key, in one order."""

    decision: Decision
    revision: int
    instance_id: str | None = None
    at: Moment | None = None
    reason: IgnoreReason | None = None
    replaced_id: str | None = None

    @classmethod
    def of(cls, answer: tasks.Answer) -> "TaskAnswer":
        """The answer as it is shown."""
        born, replaced = answer.instance_id, answer.replaced_id
        return cls(
            answer.decision,
            answer.revision,
            None if born is None else public(Prefix.INSTANCE, born),
            answer.at,
            answer.reason,
            None if replaced is None else public(Prefix.INSTANCE, replaced),
        )


class ItemProblem(msgspec.Struct, frozen=True):
    """Why one task of a batch was refused: what it would have been answered alone."""

    type: str
    title: str
    status: int
    detail: str
    code: str


class TaskItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """One task of a batch: its answer, or its problem."""

    key: str
    answer: TaskAnswer | None = None
    problem: ItemProblem | None = None

    @classmethod
    def of(cls, key: str, answer: tasks.Answer | HoraeError) -> "TaskItem":
        """The item as it is shown."""
        if isinstance(answer, HoraeError):
            said = body_of(answer)
            return cls(key, problem=ItemProblem(*(said[name] for name in ItemProblem.__struct_fields__)))
        return cls(key, TaskAnswer.of(answer))


class TaskItems(msgspec.Struct, frozen=True):
    """The tasks of a batch, each in its place."""

    items: list[TaskItem]


class LiveTask(Shown):
    """What may still happen."""

    instance_id: str
    state: State
    at: datetime
    due_at: datetime
    attempt: int
    retry_count: int
    error: str | None
    payload: Any


class DecisionView(Shown):
    """One line of a key's ledger: what was decided, when and by whom, and the time that was asked for."""

    decision: LedgerWord
    on: base.ShownTime = Field(description="When it was decided.")
    by: str = ""
    at: base.ShownTime | None = Field(None, description="The time that was asked for.")
    reason: IgnoreReason | None = Field(None, description="Why it was ignored.")


class TaskView(Shown):
    """A key: what lives, what is remembered of it for ever, and the last twenty decisions, oldest first."""

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
    def of(cls, type_name: str, key: str, shown: tasks.Shown) -> "TaskView":
        """The key as it is shown."""
        live, ledger = shown.known.live, shown.known.ledger
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
            decisions=[DecisionView.model_validate(one) for one in shown.decisions],
        )
