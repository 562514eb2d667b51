"""While an incident is open, critical work is read and started before any other work is looked at."""

from collections import defaultdict
from datetime import timedelta

import pytest

from horae.domain.instances.instances import Lane, Priority
from horae.domain.measures.in_force import in_force
from horae.domain.measures.measures import MeasureName, MeasureOverride, MeasureState
from horae.domain.targets.targets import HttpTarget
from horae.engine.admission.fair import Fair
from horae.engine.agenda import Agenda
from horae.engine.feeder import Feeder
from horae.engine.territory import Territory
from horae.service.tasks import batches
from horae.service.tasks.batches import TaskIntent
from horae.upkeep.copies import Copier
from tests.nodes import node_in
from tests.steps import a_job, a_type, every, move_clock

SLOTS = 6
"""Fewer than one target gets: a critical call that its own target holds back lets others go."""
MANY = 600
"""More rows of a class than a page has."""


def incident(now):
    decided = MeasureOverride(True, now + timedelta(minutes=10), "recovery", "test")
    return in_force([MeasureState(name=MeasureName.INCIDENT, judged_until=now, override=decided)], now)


@pytest.fixture
async def backlog(ctx, store, catcher):
    """Due tasks and recurring jobs of two priorities; those of normal priority are the older ones."""
    for priority in (Priority.NORMAL, Priority.CRITICAL):
        name = priority.name
        target = HttpTarget(f"{catcher.url}/{name}")
        await a_type(ctx, name, priority=priority, target=target)
        await a_job(ctx, f"{name}_EVERY", every(ctx, 60, f"{name}_EVERY"), priority=priority, target=target)
        done = await batches.schedule_many(ctx, name, [TaskIntent(f"{name}-{n}") for n in range(MANY)])
        assert len(done) == MANY
        await move_clock(store, seconds=70)
    await Copier(store).once()


class ReadPriorities:
    """Which priorities each statement of a feeder reads."""

    def __init__(self, feeder):
        self.asked = []
        for scanner in feeder.scanners:
            scanner.read = self._recorded(scanner.read)

    def _recorded(self, read):
        async def recorded(tx, look, marks):
            self.asked.append({mark.priority for mark in marks})
            return await read(tx, look, marks)

        return recorded


async def looked(store, cell, *, critical_first):
    agenda = Agenda(cell.clock.now)
    agenda.critical_first = critical_first
    feeder = Feeder(cell, Territory(store.shards_of(cell)), agenda)
    read = ReadPriorities(feeder)
    await feeder.look()
    return read.asked, len(agenda)


async def test_every_critical_row_is_read_before_another_is_looked_at(backlog, store):
    [cell, _] = store.cells
    mixed, known = await looked(store, cell, critical_first=False)
    assert mixed[0] == set(Priority)
    asked, found = await looked(store, cell, critical_first=True)
    critical = [one == {Priority.CRITICAL} for one in asked]
    assert critical == sorted(critical, reverse=True), "none of them after another"
    assert all(Priority.CRITICAL not in one for one in asked[critical.count(True) :])
    assert found == known > MANY / 2
    assert len(asked) <= 2 * len(mixed) + 2, "a look costs at most as many statements more as there are scanners"


async def test_every_critical_call_is_admitted_before_any_other(backlog, ctx, store, catcher):
    node, order = node_in(store, "n", timedelta(hours=8), slots=SLOTS), defaultdict(list)
    for name, runner in node.runners.items():
        accept = runner.dispatcher.accept

        def accepted(ready, accept=accept, name=name):
            if ready.job.name in (Priority.CRITICAL.name, Priority.NORMAL.name):  # a missed fire comes as a new row
                order[name].append(ready.timer.priority)
            accept(ready)

        runner.dispatcher.accept = accepted
    try:
        node.follow_measures(incident(store.clock.now()))
        await node.drain()
    finally:
        await node.leave()
    found = [priority for own in order.values() for priority in own]
    assert (found.count(Priority.CRITICAL), found.count(Priority.NORMAL)) == (MANY, MANY)
    for own in order.values():
        last = max(number for number, priority in enumerate(own) if priority == Priority.CRITICAL)
        assert own[:last].count(Priority.NORMAL) == 0


def test_the_turn_is_found_by_looking_at_each_class_once():
    fair, asked = Fair(lambda _tenant: 1, critical_first=True), []
    fair._waiting = [(priority, lane) for priority in reversed(Priority) for lane in Lane]

    def may(class_):
        asked.append(class_)
        return False

    assert fair.next(may) is None
    assert len(asked) <= len(fair._waiting)
