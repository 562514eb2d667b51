"""One round of a task batch: decides a change for each business key, and writes each kind by one statement."""

from datetime import datetime
from typing import Final, NamedTuple, assert_never
from uuid import UUID

from horae.domain.errors import HoraeError, NotFound
from horae.domain.jobs.jobs import Job
from horae.domain.tasks import tasks as rules
from horae.domain.tasks.tasks import (
    Cancel,
    CreateDecision,
    Decision,
    Ignore,
    IgnoreReason,
    Intent,
    KeyState,
    MoveDecision,
    Replace,
)
from horae.runtime.tracing import caller_trace
from horae.security.envelopes import DataKey
from horae.service.encryption.encryption import encrypt_intent
from horae.service.tasks.new_instances import TaskIds, type_of
from horae.service.tasks.tasks import ScheduleAnswer
from horae.store.tasks import batches, tasks
from horae.store.tasks.batches import CancelRow, EarlyCancelRow, IgnoreRow, MoveRow, ReplaceRow, StartRow
from horae.store.tasks.tasks import WrittenTask
from horae.store.tx import Tx

NEVER: Final = KeyState()
"""The state of a business key that was never used."""
Answers = dict[str, ScheduleAnswer | HoraeError]


class Draft(NamedTuple):
    """An answer that waits for its write."""

    decision: Decision
    at: datetime | None = None
    reason: IgnoreReason | None = None
    replaced_id: UUID | None = None

    def answer(self, written: WrittenTask) -> ScheduleAnswer:
        """Returns the answer once the row is written."""
        instance_id = None if self.decision == Decision.IGNORED else written.instance_id
        return ScheduleAnswer(self.decision, written.revision, instance_id, self.at, self.reason, self.replaced_id)


class TaskBatchRound:
    """The decisions and writes of one round. A round has at most one intent per business key.

    `domain/tasks/tasks` decides each intent. `key` encrypts new payloads. `widenings` is how many widenings of the
    tenant the caller knew when it chose the shards.
    """

    def __init__(self, job: Job, actor: str, now: datetime, key: DataKey | None = None, *, widenings: int = 0) -> None:
        self._widenings = widenings
        self._job, self._actor, self._now, self._key = job, actor, now, key
        self._after_success = job.definition.after_success
        self._type, self._task_ids = type_of(job), TaskIds(job, now)
        self._drafts: dict[str, Draft] = {}
        self._refused: Answers = {}
        self._created: list[StartRow] = []
        self._renewed: list[StartRow] = []
        self._moved: list[MoveRow] = []
        self._replaced: list[ReplaceRow] = []
        self._cancelled: list[CancelRow] = []
        self._ignored: list[IgnoreRow] = []
        self._early_cancels: list[EarlyCancelRow] = []

    def put(self, shard: int, key: str, known: KeyState, intent: Intent) -> None:
        """Decide what a new time means for a business key."""
        change = rules.decide(known, intent, self._after_success)
        match change:
            case CreateDecision(after=after) if known.ledger is None:
                self._created.append(self._start(shard, key, after, intent))
            case CreateDecision(after=after):
                self._drafts[key] = Draft(Decision.CREATED, intent.at)
                self._renewed.append(self._start(shard, key, after, intent))
            case MoveDecision(found=found):
                self._drafts[key] = Draft(Decision.MOVED, intent.at)
                self._moved.append(MoveRow(shard, key, found, self._encrypt(found.idem_key, intent)))
            case Replace(found=found):
                self._drafts[key] = Draft(Decision.REPLACED, intent.at, replaced_id=found.id)
                kept = self._encrypt(found.idem_key, intent)
                self._replaced.append(ReplaceRow(shard, key, found, self._task_ids.new_id(shard), kept))
            case Ignore():
                self._ignore(shard, key, known, change)
            case other:
                assert_never(other)

    def cancel(self, shard: int, key: str, known: KeyState, version: int | None) -> None:
        """Decide what a cancellation means for a business key."""
        change = rules.decide_cancel(known, version)
        if known.ledger is None and version is None:
            self._refused[key] = NotFound(f"{self._job.name}/{key} has never been scheduled")
        elif known.ledger is None and version is not None:
            self._drafts[key] = Draft(Decision.IGNORED, reason=IgnoreReason.NOT_LIVE)
            self._early_cancels.append(EarlyCancelRow(shard, key, self._task_ids.new_id(shard), version))
        elif isinstance(change, Cancel):
            self._drafts[key] = Draft(Decision.CANCELLED)
            self._cancelled.append(CancelRow(shard, key, change.found, version))
        else:
            self._ignore(shard, key, known, change, version)

    async def write(self, tx: Tx) -> Answers:
        """Write the decisions. A business key without an answer changed since it was read, and has to be decided again.

        Every round writes the kinds of change in the same order, new instances first, so two batches never deadlock.
        """
        trace = caller_trace()
        answers = self._refused | (await self._create(tx, trace) if self._created else {})
        written: dict[str, WrittenTask] = {}
        if self._renewed:
            written |= await batches.renew(tx, self._type, self._renewed, self._note(Decision.CREATED), trace)
        if self._moved:
            written |= await batches.move(tx, self._type, self._moved, self._note(Decision.MOVED), trace)
        if self._replaced:
            written |= await batches.replace(tx, self._type, self._replaced, self._note(Decision.REPLACED), trace)
        if self._cancelled:
            written |= await batches.cancel(tx, self._type, self._cancelled, self._note(Decision.CANCELLED))
        if self._early_cancels:
            note = tasks.note_of(Decision.IGNORED, Ignore(IgnoreReason.NOT_LIVE), self._actor, self._now)
            written |= await batches.record_cancel_before_create(
                tx, self._type, self._early_cancels, note, self._widenings
            )
        if self._ignored:
            written |= await batches.ignore(tx, self._type, self._ignored)
        return answers | {key: self._drafts[key].answer(done) for key, done in written.items()}

    async def _create(self, tx: Tx, trace: bytes | None) -> Answers:
        note = self._note(Decision.CREATED)
        closed = await batches.create(tx, self._type, self._created, note, self._widenings, trace)
        return {
            key: ScheduleAnswer(Decision.CREATED, 1, id_, intent.at)
            for shard, key, _, id_, _, intent in self._created
            if shard not in closed
        }

    def _start(self, shard: int, key: str, after: int, intent: Intent) -> StartRow:
        id_, idem_key = self._task_ids.new_task(shard, key, after + 1)
        return StartRow(shard, key, after, id_, idem_key, self._encrypt(idem_key, intent))

    def _encrypt(self, idem_key: str, intent: Intent) -> Intent:
        return encrypt_intent(self._key, self._job.id, idem_key, intent)

    def _ignore(self, shard: int, key: str, known: KeyState, change: Ignore, version: int | None = None) -> None:
        assert known.ledger is not None
        self._drafts[key] = Draft(Decision.IGNORED, reason=change.reason)
        note = tasks.note_of(Decision.IGNORED, change, self._actor, self._now)
        self._ignored.append(IgnoreRow(shard, key, known.ledger.revision, note, version))

    def _note(self, decision: Decision) -> dict[str, object]:
        return batches.note_of(decision, self._actor, self._now)
