"""The agenda and its feeder on paper: each timer once, each row read once, and one tenant's backlog costs no other."""

from contextlib import asynccontextmanager
from datetime import timedelta
from uuid import uuid4

import pytest

from horae.domain.instances.instances import Lane, Priority
from horae.domain.nodes.wakes import LONGEST_SAFETY_LOOK
from horae.domain.placement import SHARDS
from horae.engine import agenda as agendas
from horae.engine import feeder as feeders
from horae.engine.agenda import Agenda, group_of
from horae.engine.feeder import LOOK_AHEAD_HORIZON, LOOK_BACK_SLACK, SWEEP_INTERVAL, Feeder
from horae.engine.territory import Territory
from horae.runtime.clock import Clock
from horae.store.nodes.scans import BEGINNING, ScanRange
from tests.domain.builders import NOW
from tests.engine.builders import a_timer, later


class Time:
    """A cell of which only the time is real."""

    def __init__(self):
        self.now, self.looks = NOW, 0
        self.clock = Clock(self.ticks)
        self.move()

    def ticks(self):
        return (self.now - NOW).total_seconds()

    def move(self, **by):
        self.now += timedelta(**by)
        self.clock.set(self.now, self.ticks())

    @asynccontextmanager
    async def statement(self):
        self.looks += 1
        yield None


class Rows:
    """Rows in memory that are looked at as those of a cell are."""

    def __init__(self):
        self.shards = frozenset({1})
        self.timers = []
        self.read = []

    async def cursors(self, tx, look, marks):
        return self._look([timer for timer in self.timers if timer.fired is not None], look, marks)

    async def instances(self, tx, look, marks):
        return self._look([timer for timer in self.timers if timer.fired is None], look, marks)

    async def next_due(self, tx, without):
        return min((timer.at for timer in self.timers if timer.tenant_id not in without), default=None)

    def _look(self, timers, look, marks):
        found = []
        for mark in marks:
            here = [
                timer
                for timer in sorted(timers, key=lambda one: (one.at, one.shard, one.id))
                if (timer.priority, timer.lane) == (mark.priority, mark.lane)
                and (timer.at, timer.shard, timer.id) > (mark.at, mark.shard, mark.id)
                and timer.at <= look.until
                and timer.tenant_id not in look.without
                and look.only in (None, timer.tenant_id)
            ]
            found += here[: look.limit]
        self.read += found
        return Territory(range(SHARDS))._page([found], look.limit)


@pytest.fixture
def time():
    return Time()


@pytest.fixture
def agenda(time):
    return Agenda(time.clock.now)


@pytest.fixture
def rows():
    return Rows()


@pytest.fixture
def feeder(time, agenda, rows):
    return Feeder(time, rows, agenda)


# The agenda.


def test_a_timer_offered_twice_matures_once_and_is_known_until_it_is_forgotten(agenda):
    timer = a_timer()
    agenda.offer([timer, timer])
    assert agenda.take(1_000_000) == [timer]
    agenda.offer([timer])
    assert agenda.take(1_000_000) == [], "it is being fired"
    agenda.forget(timer)
    agenda.offer([timer])
    assert agenda.take(1_000_000) == [timer]


def test_a_timer_that_moved_matures_at_its_new_time_only(agenda, time):
    timer = a_timer(later(1))
    moved = timer._replace(at=later(2))
    agenda.offer([timer])
    agenda.offer([moved])
    time.move(seconds=1)
    assert agenda.take(1_000_000) == []
    time.move(seconds=1)
    assert agenda.take(1_000_000) == [moved]
    agenda.forget(timer)
    assert len(agenda) == 1, "what is forgotten is the old time"


def test_a_cursor_that_was_read_before_it_fired_does_not_take_the_place_of_its_next_fire(agenda, time):
    read = a_timer(later(1))._replace(fired=3, version=2)
    following = read._replace(at=later(2), fired=4)
    agenda.offer([following])
    agenda.offer([read])
    time.move(seconds=1)
    assert agenda.take(1_000_000) == []
    agenda.forget(read)
    time.move(seconds=1)
    assert agenda.take(1_000_000) == [following]


def test_a_cursor_that_moves_to_an_earlier_time_matures_then(agenda, time):
    timer = a_timer(later(2))._replace(fired=3, version=2)
    earlier = timer._replace(at=later(1), version=3)
    agenda.offer([timer])
    agenda.offer([earlier])
    time.move(seconds=1)
    assert agenda.take(1_000_000) == [earlier]


def test_a_timer_comes_a_moment_ahead_and_who_sleeps_is_woken_for_an_earlier_one(time):
    woken = []
    agenda = Agenda(time.clock.now, lambda: woken.append(True))
    agenda.offer([a_timer(later(30))])
    before = agenda.wait_s()
    assert 0 < before <= 30
    woken.clear()
    agenda.offer([a_timer(later(40))])
    assert not woken
    agenda.offer([a_timer(later(0.5))])
    assert woken or before <= 0.5
    assert agenda.wait_s() <= 0.5
    time.move(seconds=0.495)
    assert agenda.take(1_000_000) == []
    time.move(seconds=0.002)
    assert len(agenda.take(1_000_000)) == 1, "its row is written now, and its call waits"


def test_a_deep_tenant_leaves_the_rest_in_the_rows_and_a_bookmark_at_the_first_of_it(agenda, monkeypatch):
    monkeypatch.setattr(agendas, "DEEP", 10)
    deep, other = uuid4(), uuid4()
    timers = [a_timer(later(n), tenant=deep) for n in range(15)]
    agenda.offer([*timers, a_timer(tenant=other)])
    assert len(agenda) == 11
    group = group_of(timers[0])
    assert agenda.deep == {group: later(10)}
    assert not agenda.has_room(group)
    for timer in timers[:5]:
        agenda.forget(timer)
    assert agenda.has_room(group)


# The feeder.


async def test_each_row_ahead_is_read_once_and_beyond_the_horizon_not_yet(feeder, rows, time, agenda):
    rows.timers = [a_timer(later(n * 10), cursor=n % 2 == 0) for n in range(12)]
    await feeder.once()
    assert len(rows.read) == 7, "up to the horizon of a minute"
    assert feeder.cursors.marks[Priority.NORMAL, Lane.FIRST].at == NOW + LOOK_AHEAD_HORIZON
    rows.read.clear()
    agenda.forget(agenda.take(1_000_000)[0])
    rows.timers.pop(0)
    time.move(seconds=5)
    await feeder.once()
    assert rows.read == [], "nothing new has come within reach"
    time.move(seconds=5)
    await feeder.once()
    assert [timer.at for timer in rows.read if timer.at > time.now] == [later(70)]


async def test_a_row_written_behind_the_mark_is_found_by_the_next_look_when_it_is_due(feeder, rows, time, agenda):
    await feeder.once()
    rows.timers.append(late := a_timer(later(2)))
    time.move(seconds=5)
    await feeder.once()
    assert agenda.take(1_000_000) == [late]


async def test_one_that_was_committed_very_late_is_found_by_the_sweep(feeder, rows, time, agenda):
    await feeder.once()
    for _ in range(4):
        time.move(seconds=10)
        await feeder.once()
    rows.timers.append(late := a_timer(NOW - LOOK_BACK_SLACK))
    found_after = 0
    while not agenda.take(1_000_000):
        time.move(seconds=5)
        found_after += 5
        await feeder.once()
    assert 0 < found_after <= SWEEP_INTERVAL.total_seconds()
    assert late in rows.read


async def test_what_is_named_is_looked_at_without_a_whole_look(feeder, rows, time, agenda):
    await feeder.once()
    time.looks = 0
    rows.timers.append(soon := a_timer(later(1)))
    for n in range(20):
        feeder.read_between(later(1), later(n))
    await feeder.once()
    assert time.looks == 2, "cursors and instances, once"
    time.move(seconds=1)
    assert agenda.take(1_000_000) == [soon]
    await feeder.once()
    assert time.looks == 2


async def test_a_timer_written_here_is_followed_only_where_the_mark_has_passed_it(feeder, agenda, time):
    await feeder.once()
    feeder.announce(a_timer(later(30)))
    feeder.announce(a_timer(later(90)))
    assert len(agenda) == 1, "the other is read when the mark comes there"


async def test_what_was_passed_is_followed_also_while_everything_is_read_again_which_is_soon(feeder, agenda):
    await feeder.once()
    asked = []
    agenda.on_room = lambda: asked.append(True)
    feeder.reset()
    assert asked, "not at the next round, five seconds later"
    feeder.announce(a_timer(later(30)))
    assert len(agenda) == 1, "its row may have been written a moment after that look"


async def test_pages_go_on_until_everything_is_read(feeder, rows, agenda):
    rows.timers = [a_timer() for _ in range(1200)]
    await feeder.once()
    assert len(agenda) == 1200


async def test_a_deep_tenant_is_refilled_from_its_bookmark_and_the_others_are_all_there(
    feeder, rows, agenda, time, monkeypatch
):
    monkeypatch.setattr(agendas, "DEEP", 100)
    deep, other = uuid4(), uuid4()
    rows.timers = [a_timer(NOW + timedelta(milliseconds=n), tenant=deep) for n in range(1000)]
    rows.timers += [a_timer(later(3 + n / 100), tenant=other) for n in range(50)]
    time.move(seconds=4)
    await feeder.once()
    seen = set()
    assert sum(timer.tenant_id == other for timer in agenda.take(1_000_000)) == 50
    for _ in range(60):
        for timer in [one for one in rows.timers if one.id in agenda._known]:
            seen.add(timer.id)
            agenda.forget(timer)
            rows.timers.remove(timer)
        time.move(seconds=1)
        await feeder.once()
        if not rows.timers:
            break
    assert len(seen) == 1050


async def test_after_a_takeover_everything_is_read_from_the_beginning(feeder, rows, agenda):
    await feeder.once()
    rows.timers.append(old := a_timer(NOW - timedelta(days=3)))
    feeder.reset()
    assert feeder.instances.marks[Priority.NORMAL, Lane.FIRST].at == BEGINNING
    await feeder.once()
    assert agenda.take(1_000_000) == [old]


async def test_who_holds_no_shards_looks_at_nothing(feeder, rows, time):
    rows.shards = frozenset()
    assert await feeder.once() == 0
    assert time.looks == 0


def test_what_is_taken_is_due_by_the_time_that_its_claim_compares_to_the_microsecond():
    """A claim that comes at once finds zero rows else, and the timer is forgotten until a later look."""
    now = NOW + timedelta(microseconds=100)
    agenda = Agenda(lambda: now)
    agenda.offer([a_timer(now + agendas.WRITE_AHEAD + timedelta(microseconds=300))])
    assert agenda.take(1_000_000) == []
    now += timedelta(milliseconds=1)
    [timer] = agenda.take(1_000_000)
    assert timer.at <= now + agendas.WRITE_AHEAD


# A feeder that rests although it has not read everything.


async def test_a_feeder_that_lost_its_shards_in_a_look_that_was_cut_rests(feeder, rows, time, agenda, monkeypatch):
    monkeypatch.setattr(agendas, "MOST", 1)
    rows.timers = [a_timer(later(1))]
    agenda.offer([others := a_timer(later(2))])
    assert await feeder.once() == 0, "there is no room"
    agenda.forget(others)
    rows.shards = frozenset()
    assert [await feeder.once() for _ in range(3)] == [0, 0, 0], "else its loop would let nobody else run"
    rows.shards = frozenset({1})
    assert await feeder.once() == 0
    time.move(seconds=1)
    assert agenda.take(2_000_000) == rows.timers


async def test_a_feeder_rests_while_a_measure_withholds_classes_and_reads_them_after_it(feeder, rows, time, agenda):
    low = a_timer(later(1))._replace(priority=Priority.LOW)
    rows.timers = [low]
    agenda.withheld_classes = frozenset((Priority.LOW, lane) for lane in Lane)
    assert await feeder.once() == 0
    before = time.looks
    assert [await feeder.once() for _ in range(10)] == [0] * 10
    assert time.looks == before, "what a measure withholds is no lack of room"
    agenda.withheld_classes = frozenset()
    feeder.reset()
    await feeder.once()
    time.move(seconds=1)
    assert agenda.take(2_000_000) == [low]


# A feeder that sleeps.


@pytest.fixture
def sleeper(time, agenda, rows):
    """A feeder with the safety period of a deployment."""
    return Feeder(time, rows, agenda, safety=LONGEST_SAFETY_LOOK)


async def pass_time(feeder, time, seconds):
    """The rounds of a feeder's loop; returns how many statements they took."""
    before = time.looks
    for _ in range(round(seconds / 5)):
        time.move(seconds=5)
        await feeder.once()
    return time.looks - before


async def test_an_idle_feeder_asks_one_statement_in_a_safety_period(sleeper, time):
    await sleeper.once()
    await pass_time(sleeper, time, 300)
    assert await pass_time(sleeper, time, 3600) == 12


async def test_a_feeder_sleeps_to_the_earliest_time_it_knows_and_is_there_before(sleeper, rows, time, agenda):
    await sleeper.once()
    await pass_time(sleeper, time, 300)
    rows.timers.append(far := a_timer(time.now + timedelta(hours=1)))
    assert await pass_time(sleeper, time, 3600 - 60) <= 13
    await pass_time(sleeper, time, 60 - 10)
    assert len(agenda) == 1, "it is known before it is due"
    await pass_time(sleeper, time, 10)
    assert agenda.take(1_000_000) == [far]


async def test_a_time_beyond_the_horizon_that_is_announced_ends_the_sleep_in_time(sleeper, rows, time, agenda):
    await pass_time(sleeper, time, 60)
    rows.timers.append(named := a_timer(time.now + timedelta(seconds=100)))
    sleeper.read_between(named.at, named.at)
    assert await pass_time(sleeper, time, 60) == 0, "not before it comes near"
    await pass_time(sleeper, time, 30)
    assert len(agenda) == 1
    rows.timers.append(followed := a_timer(time.now + timedelta(seconds=100)))
    sleeper.announce(followed)
    await pass_time(sleeper, time, 90)
    assert len(agenda) == 2


async def test_a_row_that_nobody_announced_is_found_when_rows_were_counted_or_by_the_safety_look(
    sleeper, rows, time, agenda
):
    await pass_time(sleeper, time, 60)
    rows.timers.append(lost := a_timer(time.now))
    await pass_time(sleeper, time, 30)
    assert agenda.take(1_000_000) == []
    sleeper.note_writes()
    await pass_time(sleeper, time, 5)
    assert agenda.take(1_000_000) == [lost]
    rows.timers.clear()
    agenda.forget(lost)
    await pass_time(sleeper, time, 60)
    rows.timers.append(again := a_timer(time.now))
    await pass_time(sleeper, time, LONGEST_SAFETY_LOOK.total_seconds())
    assert agenda.take(1_000_000) == [again]


async def test_what_was_forgotten_undone_is_looked_at_again_soon(sleeper, rows, time, agenda):
    rows.timers.append(timer := a_timer())
    await sleeper.once()
    for _ in range(3):
        assert agenda.take(1_000_000) == [timer]
        agenda.forget(timer)
        await pass_time(sleeper, time, 5)


async def test_a_clock_that_went_back_ends_the_sleep(sleeper, rows, time, agenda):
    await sleeper.once()
    time.move(hours=-1)
    rows.timers.append(timer := a_timer(time.now))
    await sleeper.once()
    assert agenda.take(1_000_000) == [timer]


async def test_a_row_written_here_during_a_look_is_followed(sleeper, rows, time, agenda):
    await sleeper.once()
    time.move(seconds=300)
    read, written = rows.next_due, a_timer(time.now + timedelta(seconds=30))

    async def next_due(tx, without):
        found = await read(tx, without)
        sleeper.announce(written)
        return found

    rows.next_due = next_due
    await sleeper.once()
    assert len(agenda) == 1, "the look could not see its row any more, and the marks have passed it"


@pytest.mark.parametrize("kind", ["cursors", "instances"])
async def test_shards_taken_over_during_a_look_are_read_from_the_beginning(feeder, rows, agenda, kind):
    await feeder.once()
    feeder.reset()
    scanner = getattr(feeder, kind)
    read, old = scanner.read, a_timer(NOW - timedelta(days=3), cursor=kind == "cursors")

    async def taken_over(tx, look, marks):
        page = await read(tx, look, marks)
        scanner.read = read
        rows.timers.append(old)
        feeder.reset()
        return page

    scanner.read = taken_over
    await feeder.once()
    await feeder.once()
    assert agenda.take(1_000_000) == [old]


async def test_what_was_named_is_not_lost_with_a_look_that_failed(sleeper, rows, agenda):
    await sleeper.once()
    rows.timers.append(soon := a_timer(later(0)))
    read = sleeper.cursors.read

    async def fail(*_args):
        raise ConnectionError

    sleeper.cursors.read = fail
    sleeper.read_between(later(0), later(0))
    with pytest.raises(ConnectionError):
        await sleeper.once()
    sleeper.cursors.read = read
    await sleeper.once()
    assert agenda.take(1_000_000) == [soon]


# Long looks.


@pytest.fixture
def short_rounds(monkeypatch):
    monkeypatch.setattr(feeders, "PAGES_PER_ROUND", 3)


async def test_a_long_look_is_read_in_several_rounds_and_a_named_range_is_read_in_between(
    feeder, rows, agenda, short_rounds
):
    per_round = feeders.PAGES_PER_ROUND * ScanRange(NOW).limit
    rows.timers = [a_timer(NOW - timedelta(seconds=1)) for _ in range(2 * per_round)]
    assert await feeder.once() == 1, "there is more to read"
    assert len(agenda) <= per_round
    rows.timers.append(soon := a_timer(later(30), cursor=True))
    feeder.read_between(soon.at, soon.at)
    assert await feeder.once() == 1
    assert soon.id in agenda._known
    while await feeder.once():
        pass
    assert len(agenda) == 2 * per_round + 1


async def test_a_long_look_that_fails_is_begun_again(feeder, rows, agenda, short_rounds):
    rows.timers = [a_timer() for _ in range(feeders.PAGES_PER_ROUND * ScanRange(NOW).limit + 1)]
    assert await feeder.once() == 1
    read = feeder.instances.read

    async def fail(*_args):
        raise ConnectionError

    feeder.instances.read = fail
    with pytest.raises(ConnectionError):
        await feeder.once()
    feeder.instances.read = read
    while await feeder.once():
        pass
    assert len(agenda) == len(rows.timers)


async def test_a_range_that_fills_a_group_during_its_refill_hides_no_row(feeder, rows, agenda, monkeypatch):
    monkeypatch.setattr(feeders, "PAGES_PER_ROUND", 1)
    monkeypatch.setattr(agendas, "DEEP", 1000)
    rows.timers = [a_timer(NOW + timedelta(milliseconds=n)) for n in range(5000)]
    while await feeder.once():
        pass
    group = group_of(rows.timers[0])
    for timer in [one for one in rows.timers if one.id in agenda._known][:600]:
        agenda.forget(timer)
        rows.timers.remove(timer)
    assert await feeder.once() == 1, "the refill has read a page"
    feeder.read_between(rows.timers[-500].at, rows.timers[-1].at)
    while await feeder.once():
        pass
    first_unknown = next(timer for timer in rows.timers if timer.id not in agenda._known)
    assert agenda.deep[group] <= first_unknown.at
