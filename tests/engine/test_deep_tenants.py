"""A tenant with more timers in the coming minute than a node remembers: none of them is forgotten for good."""

from collections import Counter, deque
from datetime import timedelta
from uuid import uuid4

import pytest

from horae.domain.instances.instances import Lane, Priority
from horae.engine import agenda as agendas
from horae.engine.agenda import Agenda
from horae.engine.feeder import Feeder
from tests.domain.builders import NOW
from tests.engine.builders import TENANT, a_timer
from tests.engine.test_agenda import Rows, Time

DEEP, JOBS, FIRED_PER_S, PERIOD_S, MINUTES = 100, 130, 10, 60, 6


class Deployment:
    """One tenant's rows, and a node that fires what it knows: so many a second, each followed to its next time."""

    def __init__(self):
        self.time, self.rows = Time(), Rows()
        self.agenda = Agenda(self.time.clock.now)
        self.feeder = Feeder(self.time, self.rows, self.agenda)
        self.table, self.fires, self.called_after_s = {}, Counter(), {}
        self._due = deque()

    def add(self, *timers):
        self.table |= {timer.id: timer for timer in timers}

    async def pass_second(self):
        self.rows.timers = list(self.table.values())
        await self.feeder.once()
        self._due += self.agenda.take(1_000_000)
        for _ in range(min(FIRED_PER_S, len(self._due))):
            self._carry_out(self._due.popleft())
        self.time.move(seconds=1)

    def _carry_out(self, timer):
        if self.table.get(timer.id) == timer:
            if timer.fired is None:
                del self.table[timer.id]
                self.called_after_s[timer.id] = (self.time.now - timer.at).total_seconds()
            else:
                self.fires[timer.id] += 1
                coming = timer._replace(at=timer.at + timedelta(seconds=PERIOD_S), fired=timer.fired + 1)
                self.table[timer.id] = coming
                self.feeder.announce(coming)
        self.agenda.forget(timer)


@pytest.fixture
def deployment(monkeypatch):
    monkeypatch.setattr(agendas, "DEEP", DEEP)
    return Deployment()


def cursors(first_after_s, many=JOBS, **facts):
    return [a_timer(NOW + timedelta(seconds=first_after_s), cursor=True, **facts) for _ in range(many)]


@pytest.mark.parametrize("phase_s", [0, 7, 30, 59])
async def test_every_cursor_of_a_deep_tenant_fires_in_each_period_and_its_tasks_are_seen(deployment, phase_s):
    jobs, task = cursors(phase_s), a_timer(NOW + timedelta(seconds=120))
    deployment.add(*jobs)
    for second in range(60 * MINUTES + phase_s):
        if second == 120:
            deployment.add(task)
            deployment.feeder.read_between(task.at, task.at)
        await deployment.pass_second()
    assert min(deployment.fires[job.id] for job in jobs) >= MINUTES - 1
    assert deployment.called_after_s[task.id] <= JOBS / FIRED_PER_S + 5, "it waits for what was due before, at most"


@pytest.mark.parametrize("announced", [True, False])
async def test_a_task_that_is_due_before_very_many_others_is_called_before_them(deployment, announced):
    deployment.add(*(a_timer(NOW + timedelta(seconds=40 + n / 100)) for n in range(2 * DEEP)))
    await deployment.pass_second()
    deployment.add(soon := a_timer(NOW + timedelta(seconds=2)))
    if announced:
        deployment.feeder.read_between(soon.at, soon.at)
    for _ in range(12):
        await deployment.pass_second()
    assert soon.id in deployment.called_after_s


async def test_an_urgent_class_of_a_deep_tenant_has_a_place_of_its_own(deployment):
    backlog = [a_timer(NOW - timedelta(seconds=900 - n), priority=Priority.LOW) for n in range(5 * DEEP)]
    deployment.add(*backlog)
    await deployment.pass_second()
    urgent = a_timer(NOW, priority=Priority.CRITICAL)
    retry = a_timer(NOW, priority=Priority.LOW, lane=Lane.RETRY, tenant=TENANT)
    deployment.add(urgent, retry)
    deployment.feeder.read_between(NOW, NOW)
    await deployment.pass_second()
    assert {urgent.id, retry.id} <= deployment.agenda._known.keys()


async def test_what_was_left_in_the_rows_is_found_again_after_a_look_that_failed(deployment):
    deployment.add(*(a_timer(tenant=uuid4()) for _ in range(3)), *(a_timer() for _ in range(3 * DEEP)))
    await deployment.pass_second()
    scanner, failed = deployment.feeder.instances, []
    read = scanner.read

    async def fail_once(tx, look, marks):
        if look.only is not None and not failed:
            failed.append(True)
            raise ConnectionError
        return await read(tx, look, marks)

    scanner.read = fail_once
    for _ in range(45):
        try:
            await deployment.pass_second()
        except ConnectionError:
            deployment.time.move(seconds=1)
    assert failed
    assert not deployment.table
