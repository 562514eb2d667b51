"""A crowd at the gates: whatever may happen to calls of a few targets, by a seed, on a clock that is only told."""

from random import Random
from uuid import UUID, uuid4

from horae.domain.instances.instances import Lane, Priority
from horae.domain.instances.outcomes import TargetHealth
from horae.domain.limits.limits import Key, Limit
from horae.engine.admission.admission import Admission
from horae.engine.admission.target import DueCall
from tests.domain.builders import NOW
from tests.engine.builders import FakeDesk, a_pushed_job, a_timer, later

QUOTAS = ("a", "b")
SAID = (TargetHealth.OK, TargetHealth.FAILED, TargetHealth.FAILED, TargetHealth.FAILED, TargetHealth.TOO_EARLY)
TICK = 0.5
SLOTS = 40


class Walls:
    """Limits of so many calls at once, which may be moved."""

    def __init__(self, chance: Random) -> None:
        self.most = {name: chance.choice((0, 1, 3, 20)) for name in QUOTAS}
        self.used = dict.fromkeys(QUOTAS, 0)

    def take(self, key: Key, _limit: Limit) -> bool:
        free = self.room(key) > 0
        self.used[key.name] += free
        return free

    def give(self, key: Key) -> None:
        self.used[key.name] -= 1

    undo = give

    def room(self, key: Key) -> int:
        return max(0, self.most[key.name] - self.used[key.name])

    def wait(self, key: Key, many: int) -> None:
        pass


class Crowd:
    """One node's gates, two desks and three targets. `flying` are the calls that were let pass and have not ended."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)
        self.now = NOW.timestamp()
        self.walls = Walls(self.chance)
        limits = {name: (Key(UUID(int=1), name), Limit(concurrency=1)) for name in QUOTAS}
        self.gates = Admission(
            SLOTS,
            permits=self.walls,
            limits_of=lambda job: [limits[name] for name in job.definition.quotas],
            now=lambda: self.now,
        )
        self.desks = [FakeDesk(), FakeDesk()]
        self.jobs = [
            a_pushed_job(f"http://{n}/", quotas=quotas) for n in range(3) for quotas in ((), ("a",), ("a", "b"))
        ]
        self.flying: list[DueCall] = []
        self.retries = 0

    def happen(self, moves: int) -> None:
        """So many things, one after the other."""
        deeds = (self.come, self.come, self.turn, self.turn, self.end, self.end, self.end, self.wait, self.tick)
        for _ in range(moves):
            self.chance.choice((*deeds, self.shut, self.limit, self.withdraw))()

    def come(self) -> None:
        """Some timers come due: fires, tasks and retries, often many of one job."""
        job, desk = self.chance.choice(self.jobs), self.chance.choice(self.desks)
        for _ in range(self.chance.choice((1, 2, 20))):
            lane = self.chance.choice((Lane.FIRST, Lane.FIRST, Lane.RETRY))
            self.retries += lane is Lane.RETRY
            priority = self.chance.choice(list(Priority))
            cursor = lane is Lane.FIRST and self.chance.random() < 0.3
            timer = a_timer(later(self.now - NOW.timestamp()), cursor=cursor, lane=lane, priority=priority)
            self.gates.offer(timer, job, desk)

    def turn(self) -> None:
        """Whoever may pass does."""
        self.gates.dispatch()
        for desk in self.desks:
            self.flying += desk.accepted
            desk.accepted.clear()

    def end(self) -> None:
        """One call ends, in whatever order they were sent."""
        if self.flying:
            self.answer(self.chance.choice(SAID))

    def answer(self, said: TargetHealth) -> None:
        ready = self.flying.pop(self.chance.randrange(len(self.flying)))
        self.gates.record_answer(ready, uuid4(), said)

    def withdraw(self) -> None:
        """A call is not made: its claim found nothing, its lease ran out, its deadline had no room."""
        if self.flying:
            self.gates.withdraw(self.flying.pop(self.chance.randrange(len(self.flying))))

    def wait(self) -> None:
        """Time passes; now and then a new reading of the clock sets it back a little."""
        self.now += self.chance.choice((0.01, 0.3, 1.0, 5.0, -0.2))

    def tick(self) -> None:
        """What a node does twice a second."""
        self.gates.recheck_gates()
        self.turn()
        for ready in self.gates.pop_unrecorded():
            born = ready.timer._replace(id=uuid4(), fired=None)
            self.gates.offer(born, ready.job, ready.dispatcher)
        self.turn()

    def shut(self) -> None:
        """A desk is full, or has room again."""
        desk = self.chance.choice(self.desks)
        desk.has_room = not desk.has_room

    def limit(self) -> None:
        """A limit is changed."""
        self.walls.most[self.chance.choice(QUOTAS)] = self.chance.choice((0, 1, 3, 20))

    def heal(self, seconds: float) -> None:
        """From now on every call succeeds at once, for so long."""
        until = self.now + seconds
        while self.now < until:
            self.turn()
            while self.flying:
                self.answer(TargetHealth.OK)
                self.turn()
            wait = self.gates.wait_s()
            self.now += TICK if wait is None else min(max(wait, 0.01), TICK)
            self.tick()
