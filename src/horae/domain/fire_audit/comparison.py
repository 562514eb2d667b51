"""Compares the fires that a job should have with its rows."""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from horae.domain.fire_audit.expected import ExpectedFire, expected_fires
from horae.domain.fire_audit.findings import FireCounts, FireFault, FireFinding, JobVerdict
from horae.domain.fire_audit.histories import ACTIVE, ALWAYS, JobHistory, RecordedFire, StoredBackfill
from horae.domain.fire_audit.rules import Rule
from horae.domain.fire_audit.skips import SEEN_WITHIN, holds
from horae.domain.ids import encode_id
from horae.domain.instances.lifecycle import State
from horae.domain.instances.outcomes import SkipReason

GRACE: Final = timedelta(minutes=2)
"""Fires younger than this are not judged; a cursor that is behind by more stands still."""
ONLY_MISSING: Final = "missing"
ONLY_FAILED: Final = "failed"
"""Modes of backfills that leave fires out which have not succeeded."""
SEARCH_AHEAD: Final = timedelta(days=366)
"""How far ahead the next fire of a cursor is searched."""


def judge(job: JobHistory, rows: Sequence[RecordedFire], since: datetime, until: datetime) -> JobVerdict:
    """Return what became of each fire from `since` to `until` (excluded), and every contradiction.

    Fires that the cursor has not reached are undecided: they are one finding of the cursor, if it stands still.
    """
    until = min(until, job.read_at - GRACE)
    return _Comparison(job, rows, since, until).verdict()


def unreadable(job: JobHistory, reason: str) -> JobVerdict:
    """Return the verdict on a job whose schedule cannot be computed: one finding that says why."""
    found = _finding(job, FireFault.UNREADABLE, job.read_at, reason)
    return JobVerdict(FireCounts(Counter(), Counter()), [found])


def altered(job: JobHistory, day: datetime, reason: str) -> FireFinding:
    """Return the finding about a job whose archived rows of a day were changed."""
    return _finding(job, FireFault.ALTERED, day, reason)


def judge_cursor(job: JobHistory, undecided: int) -> list[FireFinding]:
    """Return what is wrong with the cursor, if anything is. `undecided` fires are due and wait for it.

    An active job has a cursor at its next fire, unless its tenant is paused or a measure may withhold it.
    """
    rule = job.rules[-1] if job.rules else None
    if job.status != ACTIVE or rule is None or job.cursor_version not in {None, rule.version}:
        return []
    if any(pause.until is None for pause in job.tenant_pauses) or job.may_be_withheld:
        return []
    if job.cursor is None:
        said = "the job is active, and its cursor has no position"
        return [_finding(job, FireFault.STANDS_STILL, rule.since, said)]
    if job.cursor < job.read_at - GRACE:
        said = f"the cursor has stood at {job.cursor} since then"
        return [_finding(job, FireFault.STANDS_STILL, job.cursor, said, fires=max(undecided, 1))]
    if not rule.policies.calendars and (coming := _next_fire(job, rule)) is not None and job.cursor > coming:
        return [
            _finding(job, FireFault.STANDS_STILL, coming, f"the cursor stands at {job.cursor}, after the next fire")
        ]
    return []


def _next_fire(job: JobHistory, rule: Rule) -> datetime | None:
    """The first fire after the history was read, and so at or after the cursor."""
    for at, exists in rule.fires(job.read_at, job.read_at + SEARCH_AHEAD):
        if exists and rule.overrides.get(at) is None:  # one that was moved forward may be made already
            return at
    return None


class _Comparison:
    """One job in one range."""

    def __init__(self, job: JobHistory, rows: Sequence[RecordedFire], since: datetime, until: datetime) -> None:
        self._job, self._since, self._until = job, since, until
        self._singles: defaultdict[datetime, list[RecordedFire]] = defaultdict(list)
        self._ranges: list[RecordedFire] = []
        self._keys = {row.idem_key for row in rows}
        for row in rows:
            if row.range_to is not None and (row.range_count or 0) > 1:
                self._ranges.append(row)
            elif row.is_of_schedule:
                self._singles[row.fire_time].append(row)
        self._ranges.sort(key=lambda row: row.fire_time)
        self._rules = {rule.version: rule for rule in job.rules}
        self._found: list[FireFinding] = []
        self._states: Counter[str] = Counter()
        self._skipped: Counter[str] = Counter()
        self._missing = 0

    def verdict(self) -> JobVerdict:
        expected = expected_fires(self._job, self._since, self._until)
        times = [fire.at for fire in expected]
        undecided = sum(self._judge_fire(fire) for fire in expected)
        self._found += judge_cursor(self._job, undecided)
        self._judge_other_rows(set(times))
        self._judge_ranges(times)
        for backfill in self._job.backfills:
            self._judge_backfill(backfill)
        return JobVerdict(FireCounts(self._states, self._skipped, self._missing, undecided), self._found)

    def _judge_fire(self, fire: ExpectedFire) -> bool:
        """Judge the verdict of one fire. Returns whether it has none because the cursor has not reached it."""
        rows = self._singles.get(fire.at, ())
        if not rows:
            cover = self._range_over(fire.at)
            if cover is not None:
                self._count(cover)
                return False
            if self._is_ahead(fire):
                return True
            if fire.is_certain and not self._waits_for_tenant(fire):
                self._missing += 1
                self._say(FireFault.MISSING, fire.at, "the schedule fires at this time, and there is no row")
            return False
        self._count(rows[0])
        self._judge_repeats(fire, rows)
        own = next((row for row in rows if not row.is_backfill), None)
        if own is not None and not self._is_repeat(fire, own, rows):
            self._judge_row(fire, own)
        return False

    def _judge_row(self, fire: ExpectedFire, row: RecordedFire) -> None:
        rule = self._rules.get(row.version)
        if rule is None or (fire.is_certain and not self._may_have(fire.version, rule)):
            said = f"version {fire.version} was in force, the row says version {row.version}"
            self._say(FireFault.WRONG_VERSION, fire.at, said, row)
            return
        if row.was_skipped:
            if not holds(self._job, rule, row):
                self._say(FireFault.WRONG_SKIP, fire.at, f"skipped as {row.reason}, and that does not hold", row)
        elif fire.skip == SkipReason.PAUSED or self._was_tenant_paused(fire):
            self._say(FireFault.RAN_WHILE_PAUSED, fire.at, "it ran while it was paused", row)
        elif fire.skip is not None and fire.days_known:
            self._say(FireFault.RAN_THOUGH_CLOSED, fire.at, f"it ran, and should have been skipped: {fire.skip}", row)
        elif row.retry_count == 0 and (row.due_at < fire.due or (row.due_at == fire.at and fire.due != fire.at)):
            self._say(FireFault.WRONG_DUE, fire.at, f"it was due {row.due_at}, and should have been {fire.due}", row)

    def _may_have(self, version: int, rule: Rule) -> bool:
        """Whether a rule may decide a fire of a version. A later version with the same schedule takes its due fires."""
        owed = self._rules.get(version)
        return rule.version == version or (owed is not None and rule.version > version and rule.fires_like(owed))

    def _judge_repeats(self, fire: ExpectedFire, rows: Sequence[RecordedFire]) -> None:
        """More rows than one need an explanation: a letter that was replayed, or a backfill over the time."""
        backfills = sum(one.since <= fire.at < one.until and not one.rerun for one in self._job.backfills)
        replays = sum(row.state == State.DEAD for row in rows)
        over = self._range_over(fire.at)
        decided_twice = over is not None and over.ended_at is not None and fire.at <= over.ended_at
        if len(rows) - 1 + decided_twice - backfills - replays <= 0:
            return
        if over is not None and over.reason == SkipReason.PAUSED:
            self._say(FireFault.RAN_WHILE_PAUSED, fire.at, "it ran, and a range says that it was paused", rows[-1])
        else:
            self._say(FireFault.DOUBLED, fire.at, f"{len(rows) + decided_twice} verdicts for one fire", rows[-1])

    def _is_repeat(self, fire: ExpectedFire, row: RecordedFire, rows: Sequence[RecordedFire]) -> bool:
        """Whether a row is a replay or a backfill that has failed once and so left its lane: it has its own version."""
        if self._range_over(fire.at) is not None:
            return True
        if any(
            one.since <= fire.at < one.until and (row.ended_at or ALWAYS) > one.created_at for one in self._backfills()
        ):
            return True
        return any(other.state == State.DEAD and other is not row for other in rows)

    def _backfills(self) -> Iterator[StoredBackfill]:
        return (one for one in self._job.backfills if not one.rerun)

    def _judge_other_rows(self, times: set[datetime]) -> None:
        """Rows at times that are none of the schedule's."""
        for at, rows in self._singles.items():
            if at in times or not self._is_judged(at):
                continue
            for row in rows:
                covered = any(one.since <= at < one.until for one in self._job.backfills)
                if not (row.is_backfill or covered):
                    self._say(FireFault.NOT_A_FIRE, at, "the schedule does not fire at this time", row)

    def _judge_ranges(self, times: Sequence[datetime]) -> None:
        """Ranges of skipped fires: their reason, and their number where the whole range is judged."""
        for row in self._ranges:
            rule, last = self._rules.get(row.version), row.range_to or row.fire_time
            if not self._is_judged(row.fire_time):
                continue
            if rule is None or not holds(self._job, rule, row):
                self._say(FireFault.WRONG_SKIP, row.fire_time, f"skipped as {row.reason}, and that does not hold", row)
                continue
            one_rule = (row.fire_time > rule.since or row.reason == SkipReason.PAUSED) and last <= (rule.until or last)
            whole = self._is_judged(last) and one_rule
            many = bisect_right(times, last) - bisect_left(times, row.fire_time)
            if whole and many != row.range_count:
                said = f"the range says {row.range_count} fires, the schedule has {many} in it"
                self._say(FireFault.WRONG_COUNT, row.fire_time, said, row)

    def _judge_backfill(self, backfill: StoredBackfill) -> None:
        """Every fire that a backfill has passed has a row of the backfill, or its mode leaves the fire out."""
        rule = self._job.rule_at(backfill.created_at) or (self._job.rules[0] if self._job.rules else None)
        if rule is None:
            return
        begin, end = max(backfill.since, self._since), min(backfill.cursor, self._until)
        for at, exists in rule.fires(begin, end) if begin < end else ():
            if not exists or rule.is_skipped_by_request(at) or rule.calendar_skip(at, self._job.calendars):
                continue
            if not self._is_backfilled(backfill, at):
                self._say(FireFault.LOST_BACKFILL, at, "a backfill has passed this fire and left no row")

    def _is_backfilled(self, backfill: StoredBackfill, at: datetime) -> bool:
        if backfill.rerun:
            seconds = f"{at.timestamp():.6f}".rstrip("0").rstrip(".")
            return f"{encode_id(self._job.id)}:{seconds}:{encode_id(backfill.id)}" in self._keys
        rows = self._singles.get(at, ())
        dead = any(row.state == State.DEAD for row in rows)
        if (backfill.mode == ONLY_MISSING and dead) or (backfill.mode == ONLY_FAILED and not dead):
            return True
        return any(row.state == State.SUCCESS or (row.ended_at or ALWAYS) >= backfill.created_at for row in rows)

    def _is_ahead(self, fire: ExpectedFire) -> bool:
        cursor = self._job.cursor
        return cursor is not None and min(fire.at, fire.due) >= cursor

    def _waits_for_tenant(self, fire: ExpectedFire) -> bool:
        """Whether its tenant is paused: then its row is written when the tenant is resumed."""
        return any(pause.until is None and pause.since <= fire.at + SEEN_WITHIN for pause in self._job.tenant_pauses)

    def _was_tenant_paused(self, fire: ExpectedFire) -> bool:
        return any(
            pause.since + SEEN_WITHIN < fire.at and pause.until is not None and fire.due < pause.until
            for pause in self._job.tenant_pauses
        )

    def _range_over(self, at: datetime) -> RecordedFire | None:
        for row in self._ranges:
            if row.fire_time > at:
                return None
            if at <= (row.range_to or at):
                return row
        return None

    def _is_judged(self, at: datetime) -> bool:
        return self._since <= at < self._until and bool(self._job.rules) and at > self._job.rules[0].since

    def _count(self, row: RecordedFire) -> None:
        self._states[row.state] += 1
        if row.was_skipped:
            self._skipped[row.reason or ""] += 1

    def _say(
        self, fault: FireFault, at: datetime, said: str, row: RecordedFire | None = None, *, fires: int = 1
    ) -> None:
        self._found.append(_finding(self._job, fault, at, said, row, fires=fires))


def _finding(
    job: JobHistory, fault: FireFault, at: datetime, said: str, row: RecordedFire | None = None, *, fires: int = 1
) -> FireFinding:
    return FireFinding(
        fault=fault,
        tenant_id=job.tenant_id,
        job_id=job.id,
        job=job.name,
        at=at,
        said=said,
        fires=fires,
        instance_id=None if row is None else row.id,
    )
