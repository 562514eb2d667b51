"""Seed 000 as a state machine over real connections: whatever the order, rows and model agree.

Decisions may be prepared on one connection and written much later on another: they take effect only when nothing
that matters has changed in between.
"""

import asyncio
from contextlib import suppress
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from horae.domain.errors import NotFound
from horae.domain.instances.lifecycle import LIVE, State, may_become
from horae.domain.instances.outcomes import (
    DeclinedCall,
    ErrorCode,
    LostAttempt,
    Retryable,
    Success,
    Unrecoverable,
)
from horae.domain.tasks.tasks import (
    AfterSuccess,
    CreateDecision,
    Decision,
    Ignore,
    Intent,
    MoveDecision,
    Replace,
    decide,
)
from horae.repositories.settle import AttemptOutcome, Settler
from horae.runtime.randomness import new_token
from horae.runtime.settings import CellSettings
from horae.service.context import Context, PlatformContext
from horae.service.tasks import tasks
from horae.service.tasks.batch_rounds import TaskBatchRound
from horae.service.tasks.batches import TaskIntent, cancel_many, schedule_many
from horae.service.tasks.new_instances import new_task_row
from horae.service.tenants import tenants
from horae.store.store import Store
from horae.store.tasks import tasks as rows
from horae.store.tx import COLLIDED
from tests.steps import a_type, query

KEYS = st.sampled_from(["a", "b"])
WHEN = st.integers(-3600, 3600)
OUTCOMES = st.sampled_from([
    Success(),
    DeclinedCall("not due"),
    LostAttempt(),
    LostAttempt(ours=False),
    Retryable(ErrorCode.TIMEOUT, "no answer"),
    Unrecoverable(ErrorCode.HTTP_4XX, "answered 404"),
])  # fmt: skip
CONNECTIONS = 3


class Row:
    """What the model knows of one key."""

    def __init__(self):
        self.state, self.generation, self.changes = None, 0, 0
        self.id = self.fire_time = None
        self.retry_count, self.error = 0, None


class TaskMachine(RuleBasedStateMachine):
    """One type that reopens or not, two keys, three stores with connections of their own."""

    world = None  # set by the test: (event loop, cells, tenant)
    examples = 0

    @initialize(reopen=st.booleans())
    def begin(self, reopen):
        TaskMachine.examples += 1
        self.loop, self.stores, tenant = self.world
        self.contexts = [Context.of(store, tenant, f"author-{n}") for n, store in enumerate(self.stores)]
        after = AfterSuccess.REOPEN if reopen else AfterSuccess.IGNORE
        self.job = self.run(a_type(self.contexts[0], f"TYPE-{self.examples}", after_success=after))
        self.model = {"a": Row(), "b": Row()}
        self.claimed, self.prepared = [], []
        self.late, self.seen_late = 0, 0

    def run(self, work):
        return self.loop.run_until_complete(work)

    def place(self, key):
        ctx = self.contexts[0]
        return rows.TaskPlace(ctx.tenant.shard(f"{self.job.name}/{key}"), ctx.tenant.id, self.job.id, key)

    def expected(self, row):
        """Which decision the rules demand in this state."""
        if row.state in LIVE:
            return Decision.REPLACED if row.state is State.RUNNING else Decision.MOVED
        if row.state is State.SUCCESS and self.job.definition.after_success is AfterSuccess.IGNORE:
            return Decision.IGNORED
        return Decision.CREATED

    def took_effect(self, row, decision, id_, at):
        if decision is Decision.MOVED:
            assert id_ == row.id, "a move keeps the id"
        elif decision is not Decision.IGNORED:
            row.generation += decision is Decision.CREATED
            row.state, row.id, row.retry_count, row.error = State.INIT, id_, 0, None
        if decision is not Decision.IGNORED:
            row.fire_time = at
        row.changes += 1

    @rule(key=KEYS, seconds=WHEN, author=st.integers(0, CONNECTIONS - 1))
    def schedule(self, key, seconds, author):
        row, ctx = self.model[key], self.contexts[author]
        at = ctx.store.cells[0].clock.now() + timedelta(seconds=seconds)
        want = self.expected(row)
        answer = self.run(tasks.schedule(ctx, self.job.name, key, at=at))
        assert answer.decision is want
        self.took_effect(row, want, answer.instance_id, at)

    @rule(wishes=st.lists(st.tuples(KEYS, WHEN), min_size=1, max_size=4), author=st.integers(0, CONNECTIONS - 1))
    def schedule_many(self, wishes, author):
        """A batch is decided task by task, in its order."""
        ctx = self.contexts[author]
        now = ctx.store.cells[0].clock.now()
        asked = [TaskIntent(key, now + timedelta(seconds=seconds)) for key, seconds in wishes]
        for wish, answer in zip(asked, self.run(schedule_many(ctx, self.job.name, asked)), strict=True):
            row = self.model[wish.key]
            want = self.expected(row)
            assert answer.decision is want
            self.took_effect(row, want, answer.instance_id, wish.at)

    @rule(keys=st.lists(KEYS, min_size=1, max_size=3), author=st.integers(0, CONNECTIONS - 1))
    def cancel_many(self, keys, author):
        answers = self.run(cancel_many(self.contexts[author], self.job.name, [TaskIntent(key) for key in keys]))
        for key, answer in zip(keys, answers, strict=True):
            row = self.model[key]
            if row.state is None:
                assert isinstance(answer, NotFound)
                continue
            assert answer.decision is (Decision.CANCELLED if row.state in LIVE else Decision.IGNORED)
            row.changes += 1
            if answer.decision is Decision.CANCELLED:
                row.state = State.CANCELLED

    @rule(key=KEYS, seconds=WHEN, author=st.integers(0, CONNECTIONS - 1))
    def prepare(self, key, seconds, author):
        """Read and decide, and let others go first."""
        ctx = self.contexts[author]

        async def read():
            async with ctx.store.statement(self.place(key).shard) as tx:
                return await rows.find(tx, self.place(key))

        known = self.run(read())
        at = ctx.store.cells[0].clock.now() + timedelta(seconds=seconds)
        intent = Intent(at)
        change = decide(known, intent, self.job.definition.after_success)
        row = self.model[key]
        self.prepared.append((key, author, known, intent, change, (row.state, row.id, row.generation, row.changes)))

    @precondition(lambda self: self.prepared)
    @rule(data=st.data(), batched=st.booleans())
    def write_what_was_prepared(self, data, batched):
        key, author, known, intent, change, seen = self.prepared.pop(data.draw(st.integers(0, len(self.prepared) - 1)))
        ctx, row, place = self.contexts[author], self.model[key], self.place(key)
        same_row = (row.state, row.id, row.generation) == seen[:3]

        async def write_batched():
            turn = TaskBatchRound(self.job, "author", ctx.store.cells[0].clock.now())
            turn.put(place.shard, key, known, intent)
            with suppress(*COLLIDED):
                async with ctx.store.tx(place.shard) as tx:
                    return (await turn.write(tx)).get(key)

        async def write():
            async with ctx.store.tx(place.shard) as tx:
                match change:
                    case CreateDecision(after=after):
                        birth = new_task_row(self.job, place, after + 1, tx.now)
                        return await rows.create(tx, place, change, intent, birth, {})
                    case MoveDecision():
                        return await rows.move(tx, place, change, intent, {})
                    case Replace(found=found):
                        birth = new_task_row(self.job, place, found.generation, tx.now)
                        return await rows.replace(tx, place, change, intent, birth, {})
                    case Ignore():
                        return await rows.ignore(tx, place, known, {})

        written = self.run(write_batched() if batched else write())
        match change:
            case CreateDecision(after=after):
                applies, decision = row.generation == after and row.state not in LIVE, Decision.CREATED
            case MoveDecision(found=found):
                waits = row.state in LIVE and row.state is not State.RUNNING
                applies, decision = waits and row.id == found.id, Decision.MOVED
            case Replace(found=found):
                applies, decision = row.state is State.RUNNING and row.id == found.id, Decision.REPLACED
            case Ignore():
                applies, decision = row.changes == seen[3], Decision.IGNORED
        assert (written is not None) == applies
        assert applies or not same_row or isinstance(change, Ignore)
        if written is not None:
            self.took_effect(row, decision, written.instance_id, intent.at)

    @rule(key=KEYS, author=st.integers(0, CONNECTIONS - 1))
    def cancel(self, key, author):
        row = self.model[key]
        if row.state is None:
            return
        answer = self.run(tasks.cancel(self.contexts[author], self.job.name, key))
        assert answer.decision is (Decision.CANCELLED if row.state in LIVE else Decision.IGNORED)
        row.changes += 1
        if answer.decision is Decision.CANCELLED:
            row.state = State.CANCELLED

    @rule(key=KEYS)
    def claim(self, key):
        """Claim this key's instance, due or not: the claim itself is another test's business."""
        row, place = self.model[key], self.place(key)
        store = self.stores[0]
        found = self.run(
            query(
                store.cell(place.shard),
                """update instance_live set state = 'RUNNING', attempt = attempt + 1, token = $3,
                          deadline = due_at + interval '1 minute'
                   where job_id = $1 and business_key = $2 and state in ('INIT', 'FAIL') returning id""",
                self.job.id,
                key,
                new_token(),
            )
        )
        assert bool(found) == (row.state in {State.INIT, State.FAIL})
        if found:
            row.state = State.RUNNING
            known = self.run(self._find(store, place))
            self.claimed.append((key, known.live))

    async def _find(self, store, place):
        async with store.statement(place.shard) as tx:
            return await rows.find(tx, place)

    @precondition(lambda self: self.claimed)
    @rule(data=st.data(), outcome=OUTCOMES, author=st.integers(0, CONNECTIONS - 1))
    def settle(self, data, outcome, author):
        key, ran = self.claimed.pop(data.draw(st.integers(0, len(self.claimed) - 1)))
        row, cell = self.model[key], self.stores[author].cell(ran.shard)
        ours = row.state is State.RUNNING and row.id == ran.id
        settler = Settler(cell)
        done = self.run(settler.settle([AttemptOutcome(ran, self.job, outcome)]))
        assert (done.written, done.refused, settler.late) == (ours, not ours, not ours)
        if not ours:
            return
        [now] = self.run(query(cell, "select state, retry_count, error_msg from job_row($1)", ran.id)) or [None]
        assert may_become(State.RUNNING, State(now["state"]))
        row.state, row.retry_count, row.error = State(now["state"]), now["retry_count"], now["error_msg"]
        row.changes += row.state not in LIVE

    @invariant()
    def rows_and_model_agree(self):
        for key, row in self.model.items():
            place, store = self.place(key), self.stores[0]
            live = self.run(
                query(store, "select * from instance_live where job_id = $1 and business_key = $2", self.job.id, key)
            )
            assert len(live) == (row.state in LIVE)
            if live:
                assert (live[0]["id"], live[0]["state"], live[0]["generation"]) == (row.id, row.state, row.generation)
                assert (live[0]["retry_count"], live[0]["error_msg"]) == (row.retry_count, row.error)
                assert live[0]["fire_time"] == row.fire_time
            known = self.run(self._find(store, place))
            if row.state is None:
                assert known.ledger is None
            else:
                assert known.ledger.outcome == (None if row.state in LIVE else row.state)
                assert (known.ledger.generation, known.ledger.revision) == (row.generation, row.changes)


JOB_ROW = """
create function job_row(uuid) returns table (state text, retry_count int, error_msg text) language sql as $$
    select state, retry_count, error_msg from instance_live where id = $1
    union all
    select state, retry_count, error_msg from instance_history where id = $1 $$
"""


@pytest.fixture
def world(cluster):
    loop = asyncio.new_event_loop()
    names = loop.run_until_complete(cluster.make_cells(2))
    cells = [CellSettings(name=name, dsn=cluster.dsn(name)) for name in names]
    stores = [Store.of(cells) for _ in range(CONNECTIONS)]
    for store in stores:
        loop.run_until_complete(store.__aenter__())
    loop.run_until_complete(query(stores[0], JOB_ROW))
    tenant = loop.run_until_complete(tenants.create(PlatformContext(stores[0], "test"), "acme", width=4096))
    yield loop, stores, tenant
    for store in stores:
        loop.run_until_complete(store.__aexit__())
    loop.run_until_complete(cluster.drop(names))
    loop.close()


def run_machine(world, examples, steps):
    machine = type("Machine", (TaskMachine,), {"world": world})
    relaxed = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
        derandomize=True,
        database=None,
    )
    run_state_machine_as_test(machine, settings=relaxed)


@pytest.mark.timeout(600)
def test_rows_and_model_agree_after_every_step(world):
    run_machine(world, 60, 30)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_rows_and_model_agree_after_every_step_of_20_000_sequences(world):
    run_machine(world, 20_000, 30)
