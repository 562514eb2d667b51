"""What feeds admission and what follows it costs the same for each timer and each result, however many there are."""

from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from types import SimpleNamespace
from uuid import UUID, uuid4

from horae.domain.instances.instances import Lane, Priority
from horae.domain.instances.outcomes import Success
from horae.domain.limits.limits import Key, Limit, LimitGrant
from horae.engine import agenda as agenda_module
from horae.engine import class_scanner as scanner_module
from horae.engine import quotas as quotas_package
from horae.engine import wheel as wheel_module
from horae.engine.agenda import Agenda
from horae.engine.class_scanner import ClassScanner
from horae.engine.quotas import Quotas
from horae.engine.territory import TimerPage
from horae.engine.wheel import Wheel
from horae.repositories import settle as settle_module
from horae.repositories.settle import AttemptOutcome, Settler
from horae.store.nodes.scans import ScanRange
from tests.counting import counting
from tests.domain.builders import NOW, an_instance
from tests.engine.builders import a_pushed_job, a_timer, later

GROWTH = 1.2
PLENTY = dict.fromkeys(range(1000), 1000)


def each_costs_the_same(lines: list[float]) -> None:
    """`lines` for each event at a small and at a large size."""
    assert lines[1] <= max(GROWTH * lines[0], lines[0] + 2), lines


def test_a_timer_in_the_wheel_costs_the_same_however_many_wait_and_for_how_long():
    lines = []
    for size in (2_000, 30_000):
        wheel = Wheel[int](0)
        with counting(wheel_module) as steps:
            for n in range(size):
                wheel.put(n * 60_000 // size, n)
            while len(wheel):
                wheel.take(wheel.next_ms())
        lines.append(steps.lines / size)
    each_costs_the_same(lines)


def test_a_timer_in_the_agenda_costs_the_same_however_many_come_due_at_once():
    lines = []
    for size in (2_000, 30_000):
        times = [NOW]
        agenda = Agenda(lambda times=times: times[-1])
        timers = [a_timer(later(1)) for _ in range(size)]
        with counting(agenda_module) as steps:
            agenda.offer(timers)
            times.append(later(2))
            taken = 0
            while found := agenda.take(1000):
                taken += len(found)
                for timer in found:
                    agenda.forget(timer)
        assert (taken, len(agenda)) == (size, 0)
        lines.append(steps.lines / size)
    each_costs_the_same(lines)


class Granting:
    """Stands for a cell's quota rows: grants many calls in each frame."""

    open_at = 0.0

    async def renew(self, asks, _limits):
        return {key: LimitGrant(PLENTY, ask.keep, ask.keep, 1) for key, ask in asks.items()}


async def test_a_round_of_limits_looks_at_those_that_are_due_and_at_no_others():
    lines = []
    for size in (10, 2_000):
        cell = SimpleNamespace(name="a", dsn="postgresql:///nobody", clock=SimpleNamespace(seconds=lambda: 0.2))
        store = SimpleNamespace(cells=[cell], cell=lambda _shard, cell=cell: cell)
        quotas = Quotas(store, uuid4())
        quotas._renewers = {"a": Granting()}
        keys = [Key(UUID(int=1), f"l{n}") for n in range(size)]
        for key in keys:
            assert not quotas.take(key, Limit(rate=1e6, burst=1e6))
        await quotas.once()
        with counting(quotas_package) as steps:
            for _ in range(100):
                assert quotas.take(keys[0], Limit(rate=1e6, burst=1e6))
                assert quotas.leave(keys[:1]) is None
                quotas.give(keys[0])
        lines.append(steps.lines / 100)
        with counting(quotas_package) as steps:
            quotas._due(0.0)
        assert steps.lines < 10, "nothing is due: nothing is looked at"
    each_costs_the_same(lines)


async def test_a_call_that_waits_for_its_moment_costs_the_same_however_many_wait():
    lines = []
    for size in (100, 20_000):
        cell = SimpleNamespace(name="a", dsn="postgresql:///nobody", clock=SimpleNamespace(seconds=lambda: 0.2))
        quotas = Quotas(SimpleNamespace(cells=[cell], cell=lambda _shard, cell=cell: cell), uuid4())
        quotas._renewers = {"a": Granting()}
        key, gone = Key(UUID(int=1), "rate"), []
        assert not quotas.take(key, Limit(rate=1.0))
        calls = [SimpleNamespace(paces=(key,)) for _ in range(size)]
        with counting(quotas_package) as steps:
            for call in calls:
                quotas.pacer.leave(call, lambda: 1.0, partial(gone.append, 1))
        waiting = steps.lines / size
        assert (len(quotas.pacer), len(gone)) == (size, 0)
        quotas._slices[key]._calls = dict.fromkeys(range(1000), 50)  # the present frame is one of them
        with counting(quotas_package) as steps:
            quotas.pacer.on_grant(key)
        assert len(gone) >= 50
        quotas.pacer.close()
        lines.append(waiting + steps.lines / len(gone))
    each_costs_the_same(lines)


async def test_a_result_costs_the_same_in_a_small_batch_and_in_a_large_one(monkeypatch):
    job = a_pushed_job()
    settler = Settler(SimpleNamespace(name="a", clock=None))

    async def written(_settler, rows):
        return [row.ran.id for row in rows]

    monkeypatch.setattr(Settler, "_write", written)
    lines = []
    for size in (50, 5_000):
        results = [AttemptOutcome(an_instance(id=uuid4()), job, Success()) for _ in range(size)]
        with counting(settle_module) as steps:
            assert (await settler.settle(results)).written == size
        lines.append(steps.lines / size)
    each_costs_the_same(lines)


class Rows:
    """Stands for the cursors of a cell: pages of timers in the order of time, whatever the class."""

    def __init__(self, timers):
        self.timers, self.read_to = timers, 0

    @asynccontextmanager
    async def statement(self):
        yield None

    async def read(self, _tx, look, marks):
        page = self.timers[self.read_to : self.read_to + look.limit]
        self.read_to += len(page)
        class_ = marks[0].priority, marks[0].lane
        return TimerPage(page, {class_: page[-1]} if len(page) == look.limit else {})


async def test_a_row_that_is_fed_costs_the_same_however_many_there_are():
    lines = []
    for size in (2_000, 30_000):
        agenda = Agenda(lambda: NOW)
        rows = Rows([a_timer(NOW + timedelta(milliseconds=n)) for n in range(size)])
        scanner = ClassScanner(rows, rows.read, [(Priority.NORMAL, Lane.FIRST)], agenda)
        with counting(scanner_module, agenda_module) as steps:
            async for _ in scanner.read_ahead(ScanRange(later(600))):
                pass
        assert len(agenda) == size
        lines.append(steps.lines / size)
    each_costs_the_same(lines)
