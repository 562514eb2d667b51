"""What must hold when a seed has come to rest. Reads the rows, the receiver's ledger and what authors were told."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from horae.domain.jobs.jobs import Job
from horae.domain.schedules.triggers import IntervalTrigger
from horae.domain.tasks.tasks import AfterSuccess
from tests.simulation.day import EPOCH

if TYPE_CHECKING:
    from tests.simulation.world import World

Row = Mapping[str, Any]
SECOND = timedelta(seconds=1)
PROMPT_MS = 2000


def check(world: "World") -> None:
    """Tell every violation."""
    past: list[Row] = _read(world, "select * from instance_history order by id")
    by_job: dict[UUID, list[Row]] = defaultdict(list)
    for row in past:
        by_job[row["job_id"]].append(row)
    found = [*_left(world), *_ended_once(world, past), *_keys(past), *_effects(world, past), *_prompt(world, past)]
    for job in world.jobs.values():
        if job.recurring:
            found += _every_fire(job, by_job[job.id], world.plan.cron_every)
    for type_name, key in world.keys:
        found += Key(world, world.jobs[type_name], key, by_job).check()
    for one in found:
        world.violate(one)


def _left(world: "World") -> Iterator[str]:
    for row in _read(world, "select id, state, deadline, due_at from instance_live order by id"):
        yield f"stuck: {row['id']} is still {row['state']}, due at {row['due_at']}, deadline {row['deadline']}"
    for row in _read(world, "select job_id, next_fire_at from job_cursor where next_fire_at is not null"):
        yield f"stuck: the cursor of {row['job_id']} still stands at {row['next_fire_at']}"


def _ended_once(world: "World", past: list[Row]) -> Iterator[str]:
    for id_, many in Counter(row["id"] for row in past).items():
        if many > 1:
            yield f"double end: {id_} has {many} rows of history"
    ended = {row["id"]: row["state"] for row in past if row["range_to"] is None}
    for id_, state in world.witness.states.items():
        if ended.get(id_) != state:
            yield f"lost: {id_} was seen as {state}, its history says {ended.get(id_)}"


def _keys(past: list[Row]) -> Iterator[str]:
    """One record per idempotency key; of a task several may have been replaced on the way, never two carried out."""
    counts = Counter(row["idem_key"] for row in past if row["business_key"] is None or row["state"] != "CANCELLED")
    for key, many in counts.items():
        if many > 1:
            yield f"duplicate: {many} records under {key}"


def _effects(world: "World", past: list[Row]) -> Iterator[str]:
    effects = world.receiver.effects
    known = {row["idem_key"] for row in past}
    intended: dict[tuple[object, ...], set[str]] = defaultdict(set)
    for row in past:
        if row["state"] == "SUCCESS" and row["idem_key"] not in effects:
            yield f"no effect: {row['id']} succeeded, but {row['idem_key']} never took effect"
        what = (row["business_key"], row["generation"]) if row["business_key"] else (row["fire_time"],)
        if row["idem_key"] in effects:
            intended[row["job_id"], *what].add(row["idem_key"])
    for what, keys in intended.items():
        if sum(effects[key] for key in keys) > 1:
            yield f"double effect: {what} took effect under {sorted(keys)}"
    for key in effects:
        if key not in known:
            yield f"effect without a record: {key}"


def _prompt(world: "World", past: list[Row]) -> Iterator[str]:
    """Without faults every fire is in time."""
    if not world.plan.harm:
        for row in past:
            if (row["trigger_delay_ms"] or 0) > PROMPT_MS and row["worker_id"] in {None, "target"}:
                yield f"late: {row['id']} was sent {row['trigger_delay_ms']} ms after it was due, and nothing was wrong"


def _every_fire(job: Job, rows: list[Row], cron_every: int) -> Iterator[str]:
    """Each fire that the schedule owes has exactly one verdict, and there is no verdict about anything else."""
    owed = set(_owed(job, cron_every))
    told: Counter[datetime] = Counter()
    for row in rows:
        if row["range_to"] is None:
            told[row["fire_time"]] += 1
            continue
        covered = [at for at in owed if row["fire_time"] <= at <= row["range_to"]]
        if len(covered) != row["range_count"]:
            yield f"range: {job.name} tells of {row['range_count']} fires, {len(covered)} were owed"
        told.update(covered)
    for at in sorted(owed | set(told)):
        if told[at] != 1 or at not in owed:
            yield f"verdicts: {job.name} at {at.time()} has {told[at]} of them, owed {int(at in owed)}"


def _owed(job: Job, cron_every: int) -> Iterator[datetime]:
    """By brute force, with no word from the product but where the schedule begins and ends."""
    trigger, end = job.definition.trigger, job.definition.policies.end
    assert end is not None
    if isinstance(trigger, IntervalTrigger):
        number = 0
        while (at := trigger.anchor + number * timedelta(seconds=trigger.every)) < end:
            yield at
            number += 1
        return
    at = EPOCH + SECOND
    while at < end:
        if at.second % cron_every == 0:
            yield at
        at += SECOND


class Key:
    """The sequential rules of one business key, walked in the order of its revisions."""

    def __init__(self, world: "World", job: Job, key: str, by_job: Mapping[UUID, list[Row]]) -> None:
        self.world = world
        self.name = f"{job.name}/{key}"
        self.reopen = job.definition.after_success is AfterSuccess.REOPEN
        self.said = [one for one in world.acknowledged if (one.type_name, one.key) == (job.name, key)]
        self.ended = {row["id"]: row for row in by_job[job.id] if row["business_key"] == key}
        where = "where job_id = $1 and {} = $2"
        events = "select body from outbox " + where.format("body ->> 'key'") + " and event like 'TASK_%'"
        self.told = {row["body"]["revision"]: row["body"] for row in _read(world, events, job.id, key)}
        self.ledger = next(
            iter(_read(world, "select * from task_key " + where.format("business_key"), job.id, key)), None
        )
        self.state: str | None = None
        self.id: str | None = None

    def check(self) -> Iterator[str]:
        yield from self._heard()
        if self.ledger is None:
            if self.said:
                yield f"forgotten: {self.name} was acknowledged and has no ledger"
            return
        for revision in range(1, self.ledger["revision"] + 1):
            body = self.told.get(revision)
            why = self._settled() if body is None else self._decided(body)
            if why:
                yield f"rules: {self.name} at revision {revision}: {why}"
        if self.state != self.ledger["outcome"]:
            yield f"rules: {self.name} should be {self.state}, its ledger says {self.ledger['outcome']}"
        yield from self._last()

    def _heard(self) -> Iterator[str]:
        """What was acknowledged was written, and who asked after hearing another's answer comes after it."""
        for one in self.said:
            body = self.told.get(one.answer.revision)
            if body is None or body["decision"] != one.answer.decision:
                yield f"acknowledged: {self.name} revision {one.answer.revision} {one.answer.decision} was not written"
        for first in self.said:
            for then in self.said:
                if first.heard_at < then.asked_at and first.answer.revision >= then.answer.revision:
                    yield f"order: {self.name} revision {then.answer.revision} was asked after a later one was heard"

    def _decided(self, body: Row) -> str | None:
        found = self.state
        match body["decision"]:
            case "created":
                allowed = {None, "DEAD", "CANCELLED", "SKIPPED"} | ({"SUCCESS"} if self.reopen else set())
                self.state, self.id = "LIVE", body["instance_id"]
                return None if found in allowed else f"created while {found}"
            case "moved":
                return None if found == "LIVE" and body["instance_id"] == self.id else f"moved while {found}"
            case "replaced":
                old, self.id = self.id, body["instance_id"]
                right = found == "LIVE" and body["replaced_id"] == old and self._history(old) == "CANCELLED"
                return None if right else f"replaced {old} while {found}"
            case "cancelled":
                self.state = "CANCELLED"
                return None if found == "LIVE" and self._history(self.id) == "CANCELLED" else f"cancelled while {found}"
            case "ignored" if body["reason"] == "succeeded":
                return None if found == "SUCCESS" and not self.reopen else f"ignored as succeeded while {found}"
            case "ignored" if body["reason"] == "not_live":
                return None if found != "LIVE" else "ignored as not live while it lives"
            case other:
                return f"unknown decision {other}"

    def _settled(self) -> str | None:
        found, self.state = self.state, self._history(self.id)
        return None if found == "LIVE" and self.state in {"SUCCESS", "DEAD", "SKIPPED"} else f"settled while {found}"

    def _history(self, id_: str | None) -> str | None:
        row = self.ended.get(UUID(id_)) if id_ else None
        return None if row is None else str(row["state"])

    def _last(self) -> Iterator[str]:
        """The last time that was acknowledged, and nothing decided after it, is the time of what fired."""
        if not self.said:
            return
        last = max(self.said, key=lambda one: one.answer.revision)
        later = [body for revision, body in self.told.items() if revision > last.answer.revision]
        if last.at is None or last.answer.instance_id is None or any(body["decision"] != "ignored" for body in later):
            return
        row = self.ended.get(last.answer.instance_id)
        if row is None or row["fire_time"] != last.at:
            fired = None if row is None else row["fire_time"]
            yield f"last time: {self.name} was acknowledged for {last.at}, fired for {fired}"


def _read(world: "World", text: str, *args: object) -> list[Any]:
    return world.server.wait(world.server.connection.fetch(text, *args))  # type: ignore[no-any-return]
