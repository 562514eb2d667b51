"""Very many limits of one tenant cost the others neither their rounds nor the time of the loop."""

from uuid import uuid4

from horae.domain.limits.limits import Key, Limit, LimitGrant
from horae.engine.admission import limited
from horae.engine.admission.admission import Admission
from horae.engine.quotas import Quotas
from horae.engine.quotas.quotas import MAX_KEYS_PER_ROUND
from horae.runtime.randomness import new_token
from tests.engine.builders import TENANT, FakeDesk, a_pushed_job, a_timer

LIMITS, WAITING = 300, 20


class Forgotten:
    """Permits of which nothing is left and nothing is known any more."""

    def __init__(self):
        self.takes = 0

    def take(self, _key, _limit):
        self.takes += 1
        return False

    def give(self, _key):
        pass

    undo = give

    def room(self, _key):
        return 1 << 30

    def wait(self, _key, _many):
        pass


def test_a_periodic_look_at_limits_that_are_not_known_lets_a_bounded_number_ask_again():
    permits, desk = Forgotten(), FakeDesk()
    gates = Admission(100, permits=permits, limits_of=lambda job: [(Key(TENANT, job.name), Limit(concurrency=1))])
    for n in range(LIMITS):
        job = a_pushed_job(f"http://{n}/")
        named = type(job)(**{name: getattr(job, name) for name in job.__struct_fields__} | {"name": str(n)})
        for _ in range(WAITING):
            gates.offer(a_timer(), named, desk)
    gates.dispatch()
    assert gates.limited == LIMITS * WAITING
    permits.takes = 0
    gates.recheck_gates()
    gates.dispatch()
    most = limited.QUEUES_CHECKED_AT_ONCE + limited.READMITTED_AT_ONCE
    assert limited.QUEUES_CHECKED_AT_ONCE <= permits.takes <= most
    assert gates.limited == LIMITS * WAITING


async def test_a_round_has_a_bounded_number_of_keys_and_tenants_come_in_turn(store, monkeypatch):
    quotas = Quotas(store, new_token())
    rounds = []

    def asked(name):
        async def renew(asks, limits):
            rounds.append((name, list(limits)))
            return {key: LimitGrant(calls={}, held=0, share=0, holders=1) for key in limits}

        return renew

    for name, bursar in quotas._renewers.items():
        monkeypatch.setattr(bursar, "renew", asked(name))
    crowd = uuid4()
    many = [Key(crowd, f"job/{n}") for n in range(5 * MAX_KEYS_PER_ROUND)]
    few = [Key(uuid4(), "tenant") for _ in range(3)]
    for key in (*many, *few):
        assert not quotas.take(key, Limit(concurrency=1))
    await quotas.once()
    first = dict(reversed(rounds))
    assert max(len(keys) for _, keys in rounds) <= MAX_KEYS_PER_ROUND
    assert {key for keys in first.values() for key in keys} >= set(few), "not behind all of the crowd's"
    while len({key for _, keys in rounds for key in keys}) < len(many) + len(few):
        await quotas.once()
    await quotas.close()
