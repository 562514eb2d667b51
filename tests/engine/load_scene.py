"""A running node under real load, whose minutes pass by a moved clock."""

from collections import Counter
from contextlib import asynccontextmanager
from datetime import timedelta

from horae.domain.instances.instances import Priority
from horae.domain.measures.measures import MeasureLines
from horae.domain.targets.targets import HttpTarget
from horae.service.tasks.batches import TaskIntent, schedule_many
from horae.upkeep.copies import Copier
from tests.catcher import percentile
from tests.engine.measure_watch import Watch
from tests.engine.running import hurry, running
from tests.steps import a_type, amid, query, until

SLOTS = 20
TAKES_S = 0.05
"""How long the receiver takes for a call of the herd: with all slots, 400 calls a second."""
HERD = {"critical": 15, "normal": 180, "low": 15}
"""Calls of each priority that are due at once: they take at least half a second."""
LINES = MeasureLines(trigger_delay_p95_ms=60_000, dlq_growth_per_min=20, retry_backlog=30)
CORE_P95_MS = 2000
MAX_BATCH = 1000
WAITING = """
    select distinct priority, lane from instance_live
    where state = 'RUNNING' or (state in ('INIT', 'FAIL') and due_at <= $1)
    union select priority, 0 from job_cursor where next_fire_at <= $1"""


def batched(items, most):
    return [items[first : first + most] for first in range(0, len(items), most)]


class Scene:
    """A running node under load. Each minute has its calls at second 30, and is judged after its end."""

    def __init__(self, ctx, store, catcher, node, lines):
        self.ctx, self.store, self.catcher, self.node = ctx, store, catcher, node
        self.watch = Watch(store, node, lines)
        self.put = Counter()

    async def make_types(self, *names, **facts):
        """Types whose calls go to a path with their name, known in every cell."""
        for name in names:
            await a_type(self.ctx, name, target=HttpTarget(f"{self.catcher.url}/{name}"), **facts)
        await Copier(self.store).once()

    @property
    def actions(self):
        return self.watch.actions(self.ctx.tenant.id)

    async def plan(self, name, many, at):
        """Let calls of a type be due at one time."""
        first, self.put[name] = self.put[name], self.put[name] + many
        wishes = [TaskIntent(f"{name}-{n}", at) for n in range(first, first + many)]
        for batch in batched(wishes, MAX_BATCH):
            answers = await schedule_many(self.ctx, name, batch)
            assert not any(isinstance(answer, Exception) for answer in answers)

    async def move_to(self, second):
        """Go on to this second of a minute, the next one if it is over."""
        now = self.store.clock.now()
        at = now.replace(second=0, microsecond=0) + timedelta(seconds=second)
        await hurry(self.store, self.node, seconds=((at - now).total_seconds() - 0.001) % 60 + 0.001)

    async def idle(self, *waiting):
        """Whether nothing is due or runs, except what waits for a measure: priorities or lanes."""
        rows = await query(self.store, WAITING, self.store.clock.now())
        return all(row["priority"] in waiting or ("lane", row["lane"]) in waiting for row in rows)

    async def landed(self):
        """Whether no call is open: a moved clock would end it."""
        return not await query(self.store, "select from instance_live where state = 'RUNNING'")

    async def run(self, *waiting):
        await until(lambda: self.idle(*waiting), 60)

    async def burst(self, *waiting, **many):
        """The calls of one minute; returns how many of each type arrived."""
        at = self.store.clock.now().replace(second=30, microsecond=0)
        before = len(self.catcher.arrivals)
        for name, number in many.items():
            await self.plan(name, number, at)
        await self.move_to(30)
        await self.run(*waiting)
        return Counter(arrival.path.strip("/") for arrival in self.catcher.arrivals[before:])

    async def judge(self, *, idle=False):
        """End the minute; returns the actions that are in force in the next one.

        With `idle`, calls that became due meanwhile have ended before the measures act.
        """
        await self.watch.signaller.once()
        await self.move_to(5)
        if idle:
            await self.run()
        await self.watch.judge.once()
        await self.watch.reader.once()
        return self.actions

    async def quiet_minutes(self, number):
        for _ in range(number):
            await self.move_to(30)
            await self.judge()

    async def succeeded(self):
        """How many instances of each type have succeeded, by their rows."""
        rows = await query(
            self.store,
            """select split_part(business_key, '-', 1) as name, count(*) as many from instance_history
               where state = 'SUCCESS' and business_key is not null group by 1""",
        )
        total = Counter()
        for row in rows:
            total[row["name"]] += row["many"]
        return total

    async def delays_ms(self, priority):
        """The trigger delays of a priority, by the rows."""
        rows = await query(
            self.store,
            "select trigger_delay_ms from instance_history where priority = $1 and trigger_delay_ms is not null",
            priority,
        )
        return [row["trigger_delay_ms"] for row in rows]

    async def check_core(self):
        """Critical calls came before the others throughout; returns the 95th percentile of their delays.

        A test of full size also compares that with `CORE_P95_MS`: a small one may have a busy neighbour.
        """
        core, normal = [percentile(await self.delays_ms(one), 0.95) for one in (Priority.CRITICAL, Priority.NORMAL)]
        assert core < normal
        return core


@asynccontextmanager
async def under_load(ctx, store, catcher, lines=LINES):
    await amid(store, 60)
    async with running(store, ttl=timedelta(hours=8), slots=SLOTS) as node:
        scene = Scene(ctx, store, catcher, node, lines)
        for priority in Priority:
            await scene.make_types(priority.name.lower(), priority=priority)
        await scene.move_to(5)
        yield scene
