"""One round of a batch: what was read about some keys, what is decided of each, and one write a kind of change."""

from datetime import datetime
from typing import Final, NamedTuple, assert_never
from uuid import UUID

from horae.domain import tasks as rules
from horae.domain.errors import HoraeError, NotFound
from horae.domain.jobs import Job
from horae.domain.tasks import Cancel, Create, Decision, Ignore, IgnoreReason, Intent, Known, Move, Replace
from horae.service.births import Births
from horae.service.tasks import Answer
from horae.store import task_batches
from horae.store.task_batches import Cancelling, Ignoring, Moving, Replacing, Starting
from horae.store.tasks import Place, Written, note_of
from horae.store.tx import Tx

NEVER: Final = Known()


class Draft(NamedTuple):
    """An answer that waits for its write."""

    decision: Decision
    at: datetime | None = None
    reason: IgnoreReason | None = None
    replaced_id: UUID | None = None

    def answer(self, written: Written) -> Answer:
        """What is said once it is written."""
        born = None if self.decision is Decision.IGNORED else written.instance_id
        return Answer(self.decision, written.revision, born, self.at, self.reason, self.replaced_id)


class Round:
    """At most one intent a key. The decisions are those of `domain/tasks`, one by one."""

    def __init__(self, job: Job, actor: str, now: datetime) -> None:
        self._job = job
        self._actor = actor
        self._now = now
        self._births = Births(job, now)
        self._drafts: dict[str, Draft] = {}
        self._refused: dict[str, HoraeError] = {}
        self._created: list[Starting] = []
        self._renewed: list[Starting] = []
        self._moved: list[Moving] = []
        self._replaced: list[Replacing] = []
        self._cancelled: list[Cancelling] = []
        self._ignored: list[Ignoring] = []

    def put(self, place: Place, known: Known, intent: Intent) -> None:
        """Decide what a new time means for a key."""
        change = rules.decide(known, intent, self._job.definition.after_success)
        match change:
            case Create(after=after):
                note = self._draft(place, Decision.CREATED, change, at=change.at)
                birth = self._births.of(place, after + 1)
                starting = self._created if known.ledger is None else self._renewed
                starting.append(Starting(place, after, birth, intent, note))
            case Move(found=found):
                note = self._draft(place, Decision.MOVED, change, at=change.at)
                self._moved.append(Moving(place, found, intent, note))
            case Replace(found=found):
                assert found.generation is not None
                note = self._draft(place, Decision.REPLACED, change, at=change.at, replaced_id=found.id)
                birth = self._births.of(place, found.generation)
                self._replaced.append(Replacing(place, found, birth, intent, note))
            case Ignore():
                self._ignore(place, known, change)
            case other:
                assert_never(other)

    def cancel(self, place: Place, known: Known, version: int | None) -> None:
        """Decide what "no longer wanted" means for a key."""
        change = rules.decide_cancel(known, version)
        if known.ledger is None:
            self._refused[place.key] = NotFound(f"{self._job.name}/{place.key} has never been scheduled")
        elif isinstance(change, Cancel):
            note = self._draft(place, Decision.CANCELLED, change)
            self._cancelled.append(Cancelling(place, change.found, version, note))
        else:
            self._ignore(place, known, change)

    async def write(self, tx: Tx) -> dict[str, Answer | HoraeError]:
        """Write what was decided. A key that is missing was not: it changed since, and is to be decided again.

        Every round writes in this order, and births before all else: two batches never wait for each other.
        """
        written: dict[str, Written] = {}
        if self._created:
            written |= await task_batches.create(tx, self._created)
        if self._renewed:
            written |= await task_batches.renew(tx, self._renewed)
        if self._moved:
            written |= await task_batches.move(tx, self._moved)
        if self._replaced:
            written |= await task_batches.replace(tx, self._replaced)
        if self._cancelled:
            written |= await task_batches.cancel(tx, self._cancelled)
        if self._ignored:
            written |= await task_batches.ignore(tx, self._ignored)
        return self._refused | {key: self._drafts[key].answer(done) for key, done in written.items()}

    def _ignore(self, place: Place, known: Known, change: Ignore) -> None:
        assert known.ledger is not None
        note = self._draft(place, Decision.IGNORED, change, reason=change.reason)
        self._ignored.append(Ignoring(place, known.ledger.revision, note))

    def _draft(
        self,
        place: Place,
        decision: Decision,
        change: rules.Change | Cancel,
        *,
        at: datetime | None = None,
        reason: IgnoreReason | None = None,
        replaced_id: UUID | None = None,
    ) -> object:
        self._drafts[place.key] = Draft(decision, at, reason, replaced_id)
        return note_of(decision, change, self._actor, self._now)
