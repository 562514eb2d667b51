"""The walk of the duty over all jobs: in bounded rounds, from a stored position, with every cell or without one."""

from datetime import timedelta

import pytest

from horae.store.connections import deadlines
from horae.store.store import Store
from horae.store.tx import Tx
from horae.upkeep import fire_audit
from horae.upkeep.fire_audit import FireAuditor
from horae.upkeep.open_findings import LONGEST_WALK
from tests.cell_down import first_behind, mended_proxy
from tests.fire_audit.fleet import Fleet
from tests.steps import query

BEGIN_AT = "insert into fire_audit_position (judged_until, moved_at) values ($1, now())"
POSITION = "select judged_until, walk_until, walked_job from fire_audit_position"
FOUND = "select fault, job_id, fire_time from fire_finding"
DELETE = "delete from instance_history where job_id = $1 and fire_time = $2"


@pytest.fixture
def statements(monkeypatch):
    """Every statement that is sent from now on."""
    sent = []
    for name in ("rows", "row", "value", "run"):
        original = getattr(Tx, name)
        monkeypatch.setattr(
            Tx, name, lambda tx, text, *args, original=original: sent.append(text) or original(tx, text, *args)
        )
    return sent


@pytest.fixture
async def fleet(ctx, store):
    made = Fleet(ctx, store, 120)
    await made.write()
    for cell in store.cells:
        await query(cell, BEGIN_AT, made.since + timedelta(hours=20))
    return made


async def lose_a_fire(fleet, cell):
    """Delete the row of a plain job's fire that a walk from the position on judges first."""
    job = next(
        one for n, one in enumerate(fleet.jobs) if n % 10 in {0, 5, 6} and fleet.store.cell(one.shard).name == cell.name
    )
    lost = next(at for at in job.fires if at > fleet.since + timedelta(hours=20))
    await query(fleet.store.cell(job.shard), DELETE, job.id, lost)
    return ("MISSING", job.id, lost)


async def test_a_round_is_bounded_and_another_node_goes_on_where_it_ended(fleet, store, statements, monkeypatch):
    monkeypatch.setattr(fire_audit, "PAGE", 10)
    monkeypatch.setattr(fire_audit, "JOBS_PER_ROUND", 20)
    lost = await lose_a_fire(fleet, store.cells[0])
    begun = (await query(store.cells[0], POSITION))[0]["judged_until"]
    rounds, most = 0, 0
    while (await query(store.cells[0], POSITION))[0]["judged_until"] == begun:
        statements.clear()
        await FireAuditor(store).once()  # a node that knows nothing but the position
        most, rounds = max(most, len(statements)), rounds + 1
        assert rounds < 20
    jobs = [sum(store.cell(job.shard) is cell for job in fleet.jobs) for cell in store.cells]
    assert rounds == jobs[0] // 20 + 1
    assert most < 70
    assert [tuple(row) for row in await query(store.cells[0], FOUND)] == [lost]
    assert (await query(store.cells[0], POSITION))[0]["judged_until"] == begun + LONGEST_WALK


async def test_an_idle_round_is_two_statements_a_cell(store, statements):
    duty = FireAuditor(store)
    await duty.once()
    statements.clear()
    await duty.once()
    assert len(statements) == 2 * len(store.cells)


async def test_with_a_cell_down_the_other_is_judged_and_a_fault_waits_for_its_return(cells, fleet, store, monkeypatch):
    monkeypatch.setattr(deadlines, "ANSWER_TIMEOUT_S", 1.0)
    here = store.cells[1]
    begun = (await query(here, POSITION))[0]["judged_until"]
    with mended_proxy(cells) as proxy:
        async with Store.of(first_behind(cells, proxy)) as behind:
            duty = FireAuditor(behind)
            proxy.refuse()
            await duty.once()
            first = (await query(here, POSITION))[0]["judged_until"]
            assert first == begun + LONGEST_WALK  # nothing was found, so nothing is in doubt
            job = next(
                one
                for n, one in enumerate(fleet.jobs)
                if n % 10 in {0, 5, 6} and store.cell(one.shard) is here and any(at >= first for at in one.fires)
            )
            lost = next(at for at in job.fires if at >= first)
            await query(here, DELETE, job.id, lost)
            await duty.once()
            assert (await query(here, POSITION))[0]["judged_until"] == first
            assert await query(here, FOUND) == []
            proxy.mend()
            for _ in range(10):
                await duty.once()
                if await query(here, FOUND):
                    break
            assert [tuple(row) for row in await query(here, FOUND)] == [("MISSING", job.id, lost)]
