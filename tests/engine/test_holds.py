"""What gates hold back is told: on paper by a gatekeeper, in rows by a node that runs."""

from collections import Counter
from uuid import UUID, uuid4

import pytest

from horae.domain.instances.instances import Lane
from horae.domain.instances.outcomes import TargetHealth
from horae.domain.limits.hold_reasons import HoldReason
from horae.domain.limits.holds import WITHHOLDING_MEASURES, GateKind, GateName, HeldLane, gates_of
from horae.domain.limits.limits import Key, Limit
from horae.domain.targets.targets import HttpTarget
from horae.domain.tenants.tenants import Allowance
from horae.engine import admission
from horae.engine.admission.admission import Admission
from horae.engine.admission.holds import MAX_HOLDS, MAX_HOLDS_PER_TENANT
from horae.engine.allowances import Allowances
from horae.engine.holds import HoldWriter
from horae.runtime.randomness import new_token
from horae.store.limits import holds
from tests.counting import counting
from tests.domain.builders import NOW
from tests.engine.builders import TENANT, FakeDesk, a_pushed_job, a_timer, later
from tests.holding import write_hold
from tests.steps import query

URL = "http://x/"
TARGET = GateName(GateKind.TARGET, URL)
MAX_LINES = 90_000
"""Lines of the package for one round: what a thousand holds and some hundred other gates cost."""


class Walls:
    """Limits that let so many pass in all."""

    def __init__(self, most=0):
        self.left = most

    def take(self, _key, _limit):
        self.left -= 1
        return self.left >= 0

    def give(self, _key):
        pass

    undo = give

    def room(self, _key):
        return max(0, self.left)

    def wait(self, _key, _many):
        pass


class Gates:
    """A gatekeeper on a clock that is only told."""

    def __init__(self, limit=None):
        self.seconds = 0.0
        limits = [] if limit is None else [(Key(TENANT, "tenant"), limit)]
        self.keeper = Admission(
            100_000, permits=Walls(), limits_of=lambda _job: limits, now=lambda: NOW.timestamp() + self.seconds
        )
        self.desk = FakeDesk()

    def come(self, job, number, desk=None, **facts):
        for _ in range(number):
            self.keeper.offer(a_timer(later(self.seconds), **facts), job, desk or self.desk)
        self.keeper.dispatch()

    def answer(self, said):
        """Every call that is under way ends so."""
        flying, self.desk.accepted[:] = self.desk.accepted[:], []
        for ready in flying:
            self.keeper.record_answer(ready, uuid4(), said)
        self.keeper.dispatch()

    def held(self, after=0.0):
        self.seconds += after
        return [hold for _, hold in self.keeper.holds()]


@pytest.fixture
def gates():
    return Gates()


def test_what_a_full_target_holds_back_is_told_after_a_moment_and_has_no_time(gates):
    gates.come(a_pushed_job(target=HttpTarget(URL, max_concurrency=3)), 10)
    assert gates.held() == [], "nobody has waited for long"
    [hold] = gates.held(after=2.5)
    assert (hold.gate, hold.lane, hold.reason, hold.waiting) == (TARGET, HeldLane.FIRST, HoldReason.TARGET_CAP, 7)
    assert (hold.tenant_id, hold.since, hold.next_try_at) == (TENANT, NOW, None)


def test_an_open_breaker_tells_since_when_and_when_it_is_probed(gates):
    job = a_pushed_job(URL)
    gates.come(job, 20)
    gates.seconds = 1.0
    gates.answer(TargetHealth.FAILED)
    gates.answer(TargetHealth.FAILED)
    gates.seconds = 1.2
    gates.come(job, 5)
    [hold] = gates.held(after=0.1)[:1] or gates.held(after=2.0)
    assert hold.reason is HoldReason.BREAKER
    assert hold.since == later(1.0)
    assert hold.next_try_at is None or hold.next_try_at > later(gates.seconds)


def test_each_probe_that_fails_moves_the_next_try_and_not_the_beginning(gates):
    gates.come(a_pushed_job(URL), 50)
    gates.answer(TargetHealth.FAILED)
    tries = set()
    for _ in range(60):
        gates.seconds += 0.5
        gates.keeper.dispatch()
        gates.answer(TargetHealth.FAILED)
        for hold in gates.held():
            assert (hold.reason, hold.since) == (HoldReason.BREAKER, NOW)
            assert hold.next_try_at is None or hold.next_try_at > later(gates.seconds)
            tries.add(hold.next_try_at)
    assert len(tries) > 3


def test_retries_over_the_budget_are_told_though_one_passes_each_second(gates):
    job = a_pushed_job(URL)
    gates.come(job, 40, lane=Lane.RETRY)
    found = []
    for _ in range(10):
        gates.seconds += 1.0
        gates.keeper.dispatch()
        gates.answer(TargetHealth.TOO_EARLY)
        found += [(hold.lane, hold.reason, hold.since) for hold in gates.held() if hold.reason is not None]
    assert (HeldLane.RETRY, HoldReason.RETRY_BUDGET) in {one[:2] for one in found}
    assert len({since for _, reason, since in found if reason is HoldReason.RETRY_BUDGET}) == 1


@pytest.mark.parametrize(
    ("limit", "reason"),
    [(Limit(rate=1), HoldReason.RATE), (Limit(concurrency=1), HoldReason.CONCURRENCY)],
)
def test_a_shared_limit_tells_how_many_of_each_desk_wait(limit, reason):
    gates, other = Gates(limit), FakeDesk()
    gates.come(a_pushed_job(URL), 5)
    gates.come(a_pushed_job(URL), 3, other, lane=Lane.RETRY)
    assert gates.held() == []
    gates.seconds = 2.5
    found = dict(gates.keeper.holds())
    assert {desk: hold.waiting for desk, hold in found.items()} == {gates.desk: 5, other: 3}
    assert {(hold.gate, hold.lane, hold.reason) for hold in found.values()} == {
        (GateName(GateKind.LIMIT, "tenant"), HeldLane.ANY, reason)
    }


def test_a_hold_is_over_when_its_target_is_well_again(gates):
    gates.come(a_pushed_job(target=HttpTarget(URL, max_concurrency=3)), 10)
    assert gates.held(after=2.5)
    while gates.desk.accepted:
        gates.answer(TargetHealth.OK)
    assert gates.held() == []


async def test_a_tenant_with_thousands_of_closed_targets_hides_no_other_tenant(gates, store):
    quiet = UUID(int=7)
    for n in range(5000):
        gates.come(a_pushed_job(target=HttpTarget(f"http://{n}/", max_concurrency=1)), 2)
    gates.come(a_pushed_job(target=HttpTarget("http://q/", max_concurrency=1)), 2, tenant=quiet)
    gates.seconds = 3.0
    for _ in range(10):
        counts = Counter(hold.tenant_id for hold in gates.held())
        assert counts == {TENANT: MAX_HOLDS_PER_TENANT, quiet: 1}
    writer = HoldWriter(gates.keeper, new_token(), {gates.desk: store.cells[0]})
    for _ in range(3):
        await writer.once()
    rows = await query(store, "select tenant_id, count(*)::int as many from hold group by 1")
    assert {row["tenant_id"]: row["many"] for row in rows} == {TENANT: MAX_HOLDS_PER_TENANT, quiet: 1}


def test_the_holds_of_a_node_are_bounded_and_each_tenant_has_its_largest(gates):
    tenants = [UUID(int=100 + n) for n in range(30)]
    for n, tenant in enumerate(tenants):
        for k in range(60):
            job = a_pushed_job(target=HttpTarget(f"http://{n}/{k}", max_concurrency=1))
            gates.come(job, 2 if k else 30, tenant=tenant)
    gates.seconds = 3.0
    for _ in range(20):
        found = gates.held()
        assert len(found) <= MAX_HOLDS
    assert {hold.tenant_id for hold in found if hold.waiting == 29} == set(tenants)


def test_a_round_costs_the_same_with_ten_thousand_closed_targets_and_many_waiting_at_each(gates):
    lines = []
    for number in (2000, 10_000):
        gates = Gates()
        for n in range(number):
            job = a_pushed_job(target=HttpTarget(f"http://{n}/", max_concurrency=1))
            gates.come(job, 20, tenant=UUID(int=n % 50))
        gates.seconds = 3.0
        for _ in range(10):
            gates.keeper.holds()
        with counting(admission) as steps:
            assert len(gates.keeper.holds()) == MAX_HOLDS
        lines.append(steps.lines)
    assert max(lines) <= MAX_LINES, lines
    assert lines[1] <= 1.2 * lines[0], lines


def test_readers_know_every_gate_that_a_call_may_wait_at():
    limit = Limit(rate=1)
    job = a_pushed_job(target=HttpTarget(URL, max_concurrency=2, rate=3), limit=limit, quotas=("db",))
    allowances = Allowances(home_of=None)
    allowances._of[TENANT] = Allowance(limit=limit, quotas={"db": limit})
    limits = [key.name for key, _ in allowances.limits(job)]
    measures = [f"{name}/normal" for name in WITHHOLDING_MEASURES]
    assert gates_of(job.id, job.definition) == [
        TARGET,
        *(GateName(GateKind.LIMIT, name) for name in limits),
        *(GateName(GateKind.MEASURE, name) for name in measures),
    ]


async def test_rows_are_written_when_something_changed_and_nothing_is_asked_while_nothing_is_held(store):
    gates = Gates()
    cell, who = store.cells[0], new_token()
    writer = HoldWriter(gates.keeper, who, {gates.desk: cell})
    written = []
    real = holds.write

    async def write(tx, incarnation, ended, changed):
        written.append((len(ended), len(changed)))
        await real(tx, incarnation, ended, changed)

    holds.write = write
    try:
        await writer.once()
        gates.come(a_pushed_job(target=HttpTarget(URL, max_concurrency=3)), 100)
        gates.seconds = 3.0
        await writer.once()
        await writer.once()
        gates.come(a_pushed_job(target=HttpTarget(URL, max_concurrency=3)), 1)
        await writer.once()
        assert written == [(0, 1)], "one more of a hundred is not worth a row"
        gates.keeper.clear()
        await writer.once()
        await writer.once()
        assert written == [(0, 1), (1, 0)]
    finally:
        holds.write = real
    async with cell.statement() as tx:
        assert await holds.of_tenant(tx, TENANT) == []


async def test_what_a_newer_node_says_in_a_new_word_is_left_out(store):
    cell = store.cells[0]
    await write_hold(cell, TENANT)
    await write_hold(cell, TENANT, "http://y/")
    await query(cell, "update hold set reason = 'FULL_MOON' where name = 'http://y/'")
    async with cell.statement() as tx:
        assert [hold.gate.name for hold in await holds.of_tenant(tx, TENANT)] == ["http://x/"]
