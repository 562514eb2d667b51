"""A cell that cannot write keeps no report of a worker from the other cells, in whatever order they stand."""

from typing import NamedTuple

import asyncpg
import pytest

from horae.domain.ids import Prefix, public, shard_in
from horae.domain.targets.targets import QueueTarget
from horae.domain.workers.workers import FailureReport, Finish, Heartbeat, ReportVerdict
from horae.service.tasks import tasks
from horae.service.workers import success_batches, workers
from horae.store.instances import instances
from horae.store.workers import workers as rows
from horae.upkeep.copies import Copier
from tests.steps import a_type


class Report(NamedTuple):
    """A report of a worker, as it comes over HTTP."""

    instance_id: str
    attempt: int
    token: str


REFUSALS = [asyncpg.DiskFullError("no space left on device"), asyncpg.QueryCanceledError("statement timeout")]


@pytest.fixture
async def attempts(ctx, store):
    """Attempts of both cells: those of the first cell, then those of the other one."""
    await a_type(ctx, "MAIL", target=QueueTarget("mail", claim_seconds=30))
    await Copier(store).once()
    for number in range(40):
        await tasks.schedule(ctx, "MAIL", str(number))
    claimed = await workers.claim(ctx, "mail", "w")
    here = [one for one in claimed if store.cell(shard_in(one.instance_id)) is store.cells[0]]
    there = [one for one in claimed if one not in here]
    assert here
    assert there
    return here, there


async def refuse(monkeypatch, store, module, name, error, cell):
    """Let a statement fail in one cell."""
    run = getattr(module, name)
    async with store.cells[cell].statement() as tx:
        full = await tx.value("select current_database()")

    async def refused(tx, *args):
        if await tx.value("select current_database()") == full:
            raise error
        return await run(tx, *args)

    monkeypatch.setattr(module, name, refused)


@pytest.mark.parametrize("error", REFUSALS, ids=["disk full", "cut"])
@pytest.mark.parametrize("cell", [0, 1])
async def test_results_are_settled_where_there_is_room(ctx, store, attempts, monkeypatch, error, cell):
    await refuse(monkeypatch, store, instances, "end", error, cell)
    said = FailureReport("never", retryable=False)
    answers = await workers.finish(
        ctx, [Finish(one.instance_id, one.attempt, one.token, said) for side in attempts for one in side]
    )
    full = {one.instance_id for one in attempts[cell]}
    for answer in answers:
        assert answer.verdict is (ReportVerdict.NOT_NOW if answer.instance_id in full else ReportVerdict.DONE)


@pytest.mark.parametrize("error", REFUSALS, ids=["disk full", "cut"])
@pytest.mark.parametrize("cell", [0, 1])
async def test_plain_successes_are_settled_where_there_is_room(ctx, store, attempts, monkeypatch, error, cell):
    await refuse(monkeypatch, store, instances, "succeed", error, cell)
    here, there = ([Report(public(Prefix.INSTANCE, one.instance_id), one.attempt, one.token) for one in side]
                   for side in attempts)  # fmt: skip
    verdicts = await success_batches.succeed(ctx, [*here, *there])
    wanted = [ReportVerdict.NOT_NOW if number == cell else ReportVerdict.DONE for number in (0, 1)]
    assert verdicts == [wanted[0]] * len(here) + [wanted[1]] * len(there)


@pytest.mark.parametrize("cell", [0, 1])
async def test_deadlines_move_away_where_there_is_room(ctx, store, attempts, monkeypatch, cell):
    await refuse(monkeypatch, store, rows, "heartbeat", REFUSALS[0], cell)
    answers = await workers.heartbeat(
        ctx, [Heartbeat(one.instance_id, one.attempt, one.token) for side in attempts for one in side]
    )
    full = {one.instance_id for one in attempts[cell]}
    assert all(answer.yours for answer in answers), "none is to be stopped"
    assert {answer.instance_id for answer in answers if answer.deadline is None} == full
