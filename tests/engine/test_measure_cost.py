"""What measures and signals cost each fire: counted as executed lines, and timed in the process in turns."""

import json
import time
from itertools import cycle
from pathlib import Path
from statistics import median
from uuid import uuid4

import pytest

from horae.domain.health.signals import AttemptResult
from horae.domain.instances.instances import Lane, Priority
from horae.domain.instances.outcomes import Success, TargetHealth
from horae.domain.measures.in_force import MeasuresInForce, in_force
from horae.domain.measures.measures import MeasureName, MeasureState
from horae.engine.admission import measure_control, measure_gate
from horae.engine.admission.admission import Admission
from horae.repositories.settle import AttemptOutcome, Settler
from horae.store.instances.instances import Attempt
from tests.counting import counting
from tests.domain.builders import NOW, an_instance
from tests.engine.builders import FakeDesk, a_pushed_job, a_timer

CALLS = 500
LINES_PER_CALL = 16
"""Lines that a call may take at the gate of measures while one is in force."""
MAX_SHARE = 0.03
"""The part of a node's CPU per fire that measures and signals may take."""
PUSH_REPORT = Path("benchmarks/reports/push.json")


def delay_measure(tenant_id=None):
    """Low priority is limited, for everybody or for one tenant."""
    facts = {} if tenant_id is None else {"tenant_id": tenant_id}
    state = MeasureState(name=MeasureName.TRIGGER_DELAY_P95, level=1, judged_until=NOW, **facts)
    return in_force([state], NOW)


class Fires:
    """Calls of many tenants that come due, pass admission and are answered."""

    def __init__(self, measures=None):
        self.admission = Admission(1000, now=NOW.timestamp)
        self.desk = FakeDesk()
        self.jobs = [a_pushed_job(f"http://{n}/") for n in range(20)]
        self.timers = [a_timer(tenant=uuid4(), priority=Priority.NORMAL) for _ in range(20)]
        self.instance = uuid4()
        self.admission.set_measures(measures or MeasuresInForce())

    def pass_all(self, calls=CALLS):
        """Let this many calls pass, ten at a time, and answer each."""
        offered = zip(cycle(self.timers), cycle(self.jobs), range(calls), strict=False)
        for timer, job, n in offered:
            self.admission.offer(timer, job, self.desk)
            if n % 10 == 9:
                self.admission.dispatch()
                while self.desk.accepted:
                    self.admission.record_answer(self.desk.accepted.pop(), self.instance, TargetHealth.OK)


def test_without_a_measure_no_call_reaches_the_gate_of_measures():
    fires = Fires()
    with counting(measure_gate) as gate:
        fires.pass_all()
    with counting(measure_control) as control:
        fires.pass_all()
    assert gate.lines == 0
    assert control.lines <= CALLS / 10 * 3, "a dispatch asks once which classes may take slots, a call asks nothing"


@pytest.mark.parametrize("tenant_id", [None, uuid4()], ids=["of the platform", "of another tenant"])
def test_with_a_measure_in_force_a_call_takes_a_few_lines_more(tenant_id):
    fires = Fires(delay_measure(tenant_id))
    with counting(measure_gate, measure_control) as steps:
        fires.pass_all()
    assert 0 < steps.lines <= CALLS * LINES_PER_CALL


class Costs:
    """The parts of a fire that exist because of measures and signals, each as a function of how often it runs."""

    def __init__(self, cell):
        self.cell = cell
        self.settler = Settler(cell)
        ran = an_instance()
        attempt = Attempt(1, duration_ms=5, node="n")
        outcome = AttemptOutcome(ran, a_pushed_job("http://a/"), Success(), attempt, delay_ms=3)
        self.row, self.written = [(outcome, AttemptResult.SUCCESS)], {ran.id}

    def signals(self, many):
        for _ in range(many):
            self.settler._count(self.row, self.written)

    def withheld(self, many):
        for _ in range(many):
            assert not self.cell.measures.withheld.known


def microseconds(work, many):
    began = time.process_time()
    work(many)
    return (time.process_time() - began) / many * 1e6


def in_turns(rounds, many, *works):
    """The middle of the microseconds of each work, which take turns so that a busy neighbour meets all of them."""
    found = [[] for _ in works]
    for _ in range(rounds):
        for work, times in zip(works, found, strict=True):
            times.append(microseconds(work, many))
    return [median(times) for times in found]


@pytest.mark.parametrize("rounds", [3, pytest.param(41, marks=pytest.mark.long)])
async def test_measures_and_signals_take_at_most_three_percent_of_a_fire(store, rounds, record_property):
    off, on = Fires(), Fires(delay_measure())
    costs = Costs(store.cells[0])
    plain, measured, signals, withheld = in_turns(
        rounds, 2000, off.pass_all, on.pass_all, costs.signals, costs.withheld
    )
    a_fire = json.loads(PUSH_REPORT.read_text())["node_cpu_ms_per_fire"] * 1000
    always, in_force_more = signals + withheld, measured - plain
    for name, value in (
        ("us_signals", signals),
        ("us_withheld_span", withheld),
        ("us_gate_in_force", in_force_more),
        ("us_node_per_fire", a_fire),
        ("share_without_measure", always / a_fire),
        ("share_with_measure", (always + in_force_more) / a_fire),
    ):
        record_property(name, round(value, 4))
    if rounds > 3:  # a short run on a busy machine proves only that the figures can be taken
        assert always + in_force_more <= MAX_SHARE * a_fire
    assert costs.cell.signal_counts.totals()[Priority.NORMAL, Lane.FIRST][AttemptResult.SUCCESS] >= 2000 * rounds
    assert off.admission.waiting == on.admission.waiting == 0
