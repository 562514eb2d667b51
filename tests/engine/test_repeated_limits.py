"""A call counts once against each limit, however often its job names it."""

from datetime import UTC, datetime
from uuid import uuid4

from horae.domain.limits.limits import Key, Limit
from horae.domain.tenants.tenants import Allowance
from horae.engine.admission.admission import Admission
from horae.engine.allowances import Allowances
from horae.engine.quotas.slices import Slice
from horae.runtime.clock import boottime
from tests.engine.builders import FakeDesk, a_pushed_job, a_timer

MAX_TAKES = 20


class OnePermit:
    """One permit of a shared limit. More takes than a dispatch can need end the test."""

    def __init__(self):
        self.takes = 0
        self.slice = Slice(Limit(concurrency=1), 60.0, 0.0)
        self.slice._held = self.slice._share = 1
        self.slice._valid_until = boottime() + 60.0

    def take(self, _key, _limit):
        self.takes += 1
        assert self.takes <= MAX_TAKES, "the dispatcher goes round and round"
        return self.slice.take(boottime(), rated=False)

    def give(self, _key):
        self.slice.give(boottime())

    undo = give

    def room(self, _key):
        return self.slice.room(boottime())

    def wait(self, _key, many):
        self.slice.wait(many, boottime())


def test_a_limit_that_is_named_twice_counts_a_call_once_and_nothing_goes_round():
    limit = (Key(uuid4(), "quota/db"), Limit(concurrency=1))
    permits, desk, job = OnePermit(), FakeDesk(), a_pushed_job()
    gates = Admission(100, limits_of=lambda _job: [limit, limit], permits=permits)
    for _ in range(3):
        gates.offer(a_timer(datetime.now(UTC)), job, desk)
    assert gates.dispatch() == 1
    assert gates.limited == 2
    gates.withdraw(desk.accepted.pop())
    assert gates.dispatch() == 1, "its permit came back, once"


def test_each_limit_of_a_job_is_named_once():
    job = a_pushed_job(quotas=("db", "mail", "db"))
    allowances = Allowances(lambda _tenant_id: None)
    allowances._of[job.tenant_id] = Allowance(quotas={"db": Limit(concurrency=1), "mail": Limit(rate=1)})
    assert [key.name for key, _ in allowances.limits(job)] == ["quota/db", "quota/mail"]
