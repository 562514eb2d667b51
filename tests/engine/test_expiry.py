"""Nothing waits for ever: what a gate holds back, or no worker comes for, ends with its reason."""

from collections import Counter
from datetime import timedelta
from uuid import uuid4

import pytest

from horae.domain.instances.outcomes import ErrorCode, Retryable, TargetHealth
from horae.domain.schedules import OnOverlap, Policies
from horae.domain.schedules.triggers import OnceTrigger
from horae.domain.targets.targets import HttpTarget, QueueTarget
from horae.engine.admission.admission import Admission
from horae.engine.agenda import Agenda
from horae.engine.expiry import ROWS_PER_CLASS, Expirer
from horae.engine.territory import Territory
from horae.repositories.definitions import Definitions
from horae.runtime.randomness import id_maker
from horae.service.instances import replays
from horae.service.jobs import jobs
from horae.service.tasks import tasks
from horae.upkeep.copies import Copier
from tests.domain.builders import NOW
from tests.engine.builders import FakeDesk, a_pushed_job, a_timer
from tests.engine.running import hurry, running
from tests.steps import Looker, a_job, a_type, claim_everywhere, every, move_clock, query, settle, until

SECONDS = 60


def one_name_per_cell(ctx, store):
    """A job's name for each cell: one whose shard lies there."""
    names = {store.cell(ctx.tenant.shard(f"slow-{n}")).name: f"slow-{n}" for n in range(100)}
    return [names[cell.name] for cell in store.cells]


def expirers(store, gatekeeper=None, **facts):
    """A duty for each cell, of a node that holds every shard and sends nothing."""
    return [
        Expirer(
            cell,
            Territory(store.shards_of(cell)),
            Definitions(store.cipher),
            gatekeeper or Admission(10),
            Agenda(cell.clock.now),
            facts.get("announce", lambda _timer: None),
            lambda: 1,
        )
        for cell in store.cells
    ]


async def expire_all(duties):
    """Every round of a walk; returns how many instances each ended."""
    ended = []
    for duty in duties:
        while many := await duty.once():
            ended.append(many)
    return ended


async def test_tasks_of_a_type_that_says_so_die_in_both_cells_and_can_be_replayed(ctx, store):
    await a_type(ctx, "T", expires_after=60)
    await a_type(ctx, "PATIENT")
    await Copier(store).once()
    now = store.cells[0].clock.now()
    for n in range(40):
        await tasks.schedule(ctx, "T", f"k{n}", at=now)
        await tasks.schedule(ctx, "PATIENT", f"k{n}", at=now)
    await tasks.schedule(ctx, "T", "later", at=now + timedelta(days=900))
    duties = expirers(store)
    await move_clock(store, seconds=30)  # half of the wait: making the tasks takes seconds on a busy machine
    assert await expire_all(duties) == []
    await move_clock(store, seconds=40)
    assert sum(await expire_all(duties)) == 40
    letters = await query(store, "select instance_id, error_code, tag, error_msg, tenant_id from dead_letter")
    assert {tuple(row)[1:4] for row in letters} == {("EXPIRED", "transient_error", "not sent within 60 s")}
    assert all([await query(cell, "select from dead_letter") for cell in store.cells]), "each cell has some of the keys"
    outcomes = Counter(row["outcome"] for row in await query(store, "select outcome from task_key"))
    assert outcomes == {"DEAD": 40, None: 41}
    assert await query(store, "select from instance_live where business_key = 'later'")
    again = await replays.replay(ctx, letters[0]["instance_id"])
    assert await expire_all(duties) == [], "a replay has a wait of its own"
    assert await query(store, "select from instance_live where id = $1", again)


async def test_a_task_that_is_claimed_or_moved_meanwhile_is_left_alone(ctx, store):
    await a_type(ctx, "T", expires_after=60)
    await Copier(store).once()
    now = store.cells[0].clock.now()
    for key in ("claimed", "moved", "neither"):
        await tasks.schedule(ctx, "T", key, at=now)
    await move_clock(store, seconds=70)
    duties = expirers(store)
    for duty in duties:
        load = duty.definitions.load_from

        async def meanwhile(cell, wanted, load=load):
            found = await load(cell, wanted)
            await tasks.schedule(ctx, "T", "moved", at=now + timedelta(hours=1))
            for row in await query(store, "select id from instance_live where business_key = 'claimed'"):
                await query(
                    store,
                    """update instance_live set state = 'RUNNING', attempt = 1, token = $2, deadline = now()
                       where id = $1""",
                    row["id"],
                    uuid4(),
                )
            return found

        duty.definitions.load_from = meanwhile
    assert sum(await expire_all(duties)) == 1
    left = await query(store, "select business_key from instance_live")
    assert {row["business_key"] for row in left} == {"claimed", "moved"}


async def test_an_ended_instance_cannot_be_claimed_any_more(ctx, store):
    await a_job(ctx, trigger=every(ctx, 1), expires_after=30)
    await move_clock(store, seconds=3)
    for cell in store.cells:
        await Looker(store, cell).once()
    [row] = await query(store, "select id from instance_live")
    await move_clock(store, seconds=60)
    assert sum(await expire_all(expirers(store))) == 1
    assert row["id"] not in {ran.id for ran in await claim_everywhere(store)}
    [past] = await query(store, "select state, reason from instance_history where id = $1", row["id"])
    assert tuple(past) == ("SKIPPED", "EXPIRED")


async def test_what_no_worker_comes_for_ends_too_however_many_queues_there_are(ctx, store):
    now = store.cells[0].clock.now()
    for n in range(70):
        await a_type(ctx, f"Q{n}", target=QueueTarget(f"q{n % 60}"), expires_after=60 if n % 2 else None)
    await Copier(store).once()
    for n in range(70):
        await tasks.schedule(ctx, f"Q{n}", "due", at=now)
        await tasks.schedule(ctx, f"Q{n}", "later", at=now + timedelta(days=900))
    await move_clock(store, seconds=90)
    assert sum(await expire_all(expirers(store))) == 35
    left = await query(store, "select business_key from instance_live")
    assert Counter(row["business_key"] for row in left) == {"due": 35, "later": 70}


async def _one_behind_another(ctx, store, outcome=None):
    """A run that was sent, and some seconds later another that waits until it has ended."""
    await a_job(ctx, trigger=every(ctx, 10), policies=Policies(overlap=OnOverlap.QUEUE_ONE), expires_after=30)
    ran = []
    for _ in range(2):
        await move_clock(store, seconds=11)
        for cell in store.cells:
            await Looker(store, cell).once()
        ran = ran or await claim_everywhere(store)
    if outcome is not None:
        await settle(store, ran[0], outcome)
    return ran[0]


async def test_a_run_that_waits_behind_another_ends_though_that_one_goes_on(ctx, store):
    ran = await _one_behind_another(ctx, store)
    assert await _states(store) == {"RUNNING": 1, "BLOCKED": 1}
    await move_clock(store, seconds=40)
    assert sum(await expire_all(expirers(store))) == 1
    assert await _states(store) == {"RUNNING": 1}
    [past] = await query(store, "select id, state, reason from instance_history")
    assert tuple(past)[1:] == ("SKIPPED", "EXPIRED")
    assert past["id"] != ran.id


async def test_the_end_of_a_run_that_waits_for_its_retry_lets_the_next_one_go(ctx, store):
    ran = await _one_behind_another(ctx, store, Retryable(ErrorCode.HTTP_5XX, "answered 503"))
    assert await _states(store) == {"FAIL": 1, "BLOCKED": 1}
    await move_clock(store, seconds=22)
    released = []
    assert sum(await expire_all(expirers(store, announce=released.append))) == 1
    assert await _states(store) == {"INIT": 1}
    assert len(released) == 1
    [past] = await query(store, "select id, state, error_code, error_msg from instance_history")
    assert tuple(past) == (ran.id, "DEAD", "EXPIRED", "not sent within 30 s; last error: answered 503")


async def _states(store):
    return Counter(row["state"] for row in await query(store, "select state from instance_live"))


async def test_a_job_that_fires_once_is_over_when_its_only_run_expires(ctx, store):
    now = store.cells[0].clock.now()
    job = await a_job(ctx, "once", OnceTrigger(now + timedelta(seconds=5)), expires_after=30)
    await move_clock(store, seconds=60)
    assert sum(await expire_all(expirers(store))) == 1
    assert (await jobs.find(ctx, str(job.name))).status == "COMPLETED"


async def test_what_has_no_definition_goes_on_waiting(ctx, store):
    await a_job(ctx, trigger=every(ctx, 1), expires_after=30)
    await move_clock(store, seconds=3)
    for cell in store.cells:
        await Looker(store, cell).once()
    await move_clock(store, seconds=60)
    duties = expirers(store)
    for duty in duties:

        async def nothing(_cell, _wanted):
            return {}

        duty.definitions.load_from = nothing
    assert await expire_all(duties) == []


def test_a_gatekeeper_lets_go_of_calls_that_ended_and_probes_with_the_next():
    keeper, desk, job = Admission(100, now=NOW.timestamp), FakeDesk(), a_pushed_job()
    timers = [a_timer(NOW) for _ in range(30)]
    for timer in timers:
        keeper.offer(timer, job, desk)
    keeper.dispatch()
    for ready in desk.accepted:
        keeper.record_answer(ready, uuid4(), TargetHealth.FAILED)
    sent = len(desk.accepted)
    gone = {timer.id for timer in timers[sent:25]}
    dropped = keeper.drop(job, gone)
    assert {ready.timer.id for ready in dropped} == gone
    assert keeper.waiting == 5
    [target] = keeper.targets
    target.breaker.until = NOW.timestamp()
    keeper.recheck_gates()
    keeper.dispatch()
    assert [ready.timer.id for ready in desk.accepted[sent:]] == [timers[25].id]


@pytest.mark.parametrize(
    "many", [4_000, pytest.param(200_000, marks=[pytest.mark.long, pytest.mark.timeout(900)])], ids=str
)
async def test_a_backlog_expires_in_bounded_batches_with_few_statements(ctx, store, tenant, many):
    cell = store.cells[0]
    job = await a_job(ctx, one_name_per_cell(ctx, store)[0], every(ctx, 3600))
    then = cell.clock.now() - timedelta(days=2)
    mint = id_maker(then)
    rows = [
        (job.shard, mint(job.shard), tenant.id, job.id, 1, f"k{n}", then, then, then, 1, 0, 1000, "INIT")
        for n in range(many)
    ]
    columns = (
        "shard_id id tenant_id job_id job_version idem_key fire_time due_at changed_at priority lane slot_ms state"
    )
    async with cell.pool.acquire() as connection:
        for first in range(0, many, 10_000):
            part = rows[first : first + 10_000]
            await connection.copy_records_to_table("instance_live", records=part, columns=columns.split())
    [duty, _] = expirers(store)
    asked = Counter()
    _count_calls(cell, asked, "statement", "run")
    ended = await expire_all([duty])
    assert sum(ended) == many
    assert max(ended) <= ROWS_PER_CLASS * 9, "a round is bounded, however many wait"
    assert asked["run"] <= many / ROWS_PER_CLASS + 2, "one transaction ends a page"
    assert asked["statement"] <= 2 * many / ROWS_PER_CLASS + 20, "a page is read, and at most its definitions"
    assert len(await query(cell, "select from instance_history where reason = 'EXPIRED'")) == many


def _count_calls(cell, asked, *names):
    for name in names:
        real = getattr(cell, name)

        def counted(*args, name=name, real=real):
            asked[name] += 1
            return real(*args)

        setattr(cell, name, counted)


async def test_a_limit_that_lets_nothing_pass_keeps_nothing_for_ever(ctx, store, tenant, catcher):
    catcher.answer = lambda _arrival: None
    target = HttpTarget(catcher.url, max_concurrency=1, read_timeout=30.0)
    await a_type(ctx, "T", target=target, expires_after=600)
    await Copier(store).once()
    now = store.cells[0].clock.now()
    for n in range(30):
        await tasks.schedule(ctx, "T", f"k{n}", at=now)
    async with running(store) as node:
        await until(lambda: bool(catcher.hanging), SECONDS)
        sent = {arrival.key for arrival in catcher.arrivals}
        await hurry(store, node, minutes=11)
        await until(lambda: _dead(store, 25), SECONDS)
        catcher.answer = lambda _arrival: 200
        catcher.release()
    dead = await query(store, "select business_key, error_msg from dead_letter where error_code = 'EXPIRED'")
    unsent = [row for row in dead if row["business_key"] not in sent]
    assert unsent
    assert {row["business_key"] for row in unsent} & {one.key for one in catcher.arrivals} == set()


async def _dead(store, many):
    return len(await query(store, "select from dead_letter where error_code = 'EXPIRED'")) >= many
