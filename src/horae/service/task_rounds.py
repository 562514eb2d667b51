"""One round of a batch: what was read about some keys, what is decided of each, and one write a kind of change."""

from datetime import datetime
from typing import Final, NamedTuple, assert_never
from uuid import UUID

from horae.domain import tasks as rules
from horae.domain.errors import HoraeError, NotFound
from horae.domain.jobs import Job
from horae.domain.tasks import Cancel, Create, Decision, Ignore, IgnoreReason, Intent, Known, Move, Replace
from horae.security.envelopes import DataKey
from horae.service.births import Births, type_of
from horae.service.sealing import sealed_intent
from horae.service.tasks import Answer
from horae.store import task_batches, tasks
from horae.store.task_batches import Cancelling, Forestalling, Ignoring, Moving, Replacing, Starting
from horae.store.tasks import Written
from horae.store.tx import Tx

NEVER: Final = Known()
Answers = dict[str, Answer | HoraeError]


class Draft(NamedTuple):
    """An answer that waits for its write."""

    decision: Decision
    at: datetime | None = None
    reason: IgnoreReason | None = None
    replaced_id: UUID | None = None

    def answer(self, written: Written) -> Answer:
        """What is said once it is written."""
        born = None if self.decision == Decision.IGNORED else written.instance_id
        return Answer(self.decision, written.revision, born, self.at, self.reason, self.replaced_id)


class Round:
    """At most one intent a key. The decisions are those of `domain/tasks`, one by one. `key` seals what is new.

    `widenings`: of how many the keys' shards were chosen with.
    """

    def __init__(self, job: Job, actor: str, now: datetime, key: DataKey | None = None, *, widenings: int = 0) -> None:
        self._widenings = widenings
        self._job, self._actor, self._now, self._key = job, actor, now, key
        self._after_success = job.definition.after_success
        self._type, self._births = type_of(job), Births(job, now)
        self._drafts: dict[str, Draft] = {}
        self._refused: Answers = {}
        self._created: list[Starting] = []
        self._renewed: list[Starting] = []
        self._moved: list[Moving] = []
        self._replaced: list[Replacing] = []
        self._cancelled: list[Cancelling] = []
        self._ignored: list[Ignoring] = []
        self._forestalled: list[Forestalling] = []

    def put(self, shard: int, key: str, known: Known, intent: Intent) -> None:
        """Decide what a new time means for a key."""
        change = rules.decide(known, intent, self._after_success)
        match change:
            case Create(after=after) if known.ledger is None:
                self._created.append(self._start(shard, key, after, intent))
            case Create(after=after):
                self._drafts[key] = Draft(Decision.CREATED, intent.at)
                self._renewed.append(self._start(shard, key, after, intent))
            case Move(found=found):
                self._drafts[key] = Draft(Decision.MOVED, intent.at)
                self._moved.append(Moving(shard, key, found, self._sealed(found.idem_key, intent)))
            case Replace(found=found):
                self._drafts[key] = Draft(Decision.REPLACED, intent.at, replaced_id=found.id)
                kept = self._sealed(found.idem_key, intent)
                self._replaced.append(Replacing(shard, key, found, self._births.mint(shard), kept))
            case Ignore():
                self._ignore(shard, key, known, change)
            case other:
                assert_never(other)

    def cancel(self, shard: int, key: str, known: Known, version: int | None) -> None:
        """Decide what "no longer wanted" means for a key."""
        change = rules.decide_cancel(known, version)
        if known.ledger is None and version is None:
            self._refused[key] = NotFound(f"{self._job.name}/{key} has never been scheduled")
        elif known.ledger is None and version is not None:
            self._drafts[key] = Draft(Decision.IGNORED, reason=IgnoreReason.NOT_LIVE)
            self._forestalled.append(Forestalling(shard, key, self._births.mint(shard), version))
        elif isinstance(change, Cancel):
            self._drafts[key] = Draft(Decision.CANCELLED)
            self._cancelled.append(Cancelling(shard, key, change.found, version))
        else:
            self._ignore(shard, key, known, change, version)

    async def write(self, tx: Tx) -> Answers:
        """Write what was decided. A key that is missing was not: it changed since, and is to be decided again.

        Every round writes in this order, and births before all else: two batches never wait for each other.
        """
        answers = self._refused | (await self._create(tx) if self._created else {})
        written: dict[str, Written] = {}
        if self._renewed:
            written |= await task_batches.renew(tx, self._type, self._renewed, self._note(Decision.CREATED))
        if self._moved:
            written |= await task_batches.move(tx, self._type, self._moved, self._note(Decision.MOVED))
        if self._replaced:
            written |= await task_batches.replace(tx, self._type, self._replaced, self._note(Decision.REPLACED))
        if self._cancelled:
            written |= await task_batches.cancel(tx, self._type, self._cancelled, self._note(Decision.CANCELLED))
        if self._forestalled:
            note = tasks.note_of(Decision.IGNORED, Ignore(IgnoreReason.NOT_LIVE), self._actor, self._now)
            written |= await task_batches.forestall(tx, self._type, self._forestalled, note, self._widenings)
        if self._ignored:
            written |= await task_batches.ignore(tx, self._type, self._ignored)
        return answers | {key: self._drafts[key].answer(done) for key, done in written.items()}

    async def _create(self, tx: Tx) -> Answers:
        note = self._note(Decision.CREATED)
        closed = await task_batches.create(tx, self._type, self._created, note, self._widenings)
        return {
            key: Answer(Decision.CREATED, 1, id_, intent.at)
            for shard, key, _, id_, _, intent in self._created
            if shard not in closed
        }

    def _start(self, shard: int, key: str, after: int, intent: Intent) -> Starting:
        id_, idem_key = self._births.of(shard, key, after + 1)
        return Starting(shard, key, after, id_, idem_key, self._sealed(idem_key, intent))

    def _sealed(self, idem_key: str, intent: Intent) -> Intent:
        return sealed_intent(self._key, self._job.id, idem_key, intent)

    def _ignore(self, shard: int, key: str, known: Known, change: Ignore, version: int | None = None) -> None:
        assert known.ledger is not None
        self._drafts[key] = Draft(Decision.IGNORED, reason=change.reason)
        note = tasks.note_of(Decision.IGNORED, change, self._actor, self._now)
        self._ignored.append(Ignoring(shard, key, known.ledger.revision, note, version))

    def _note(self, decision: Decision) -> dict[str, object]:
        return task_batches.note_of(decision, self._actor, self._now)
