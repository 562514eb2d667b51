"""A worker's answer is bounded in bytes; what does not fit stays in the queue, as it was."""

import msgspec
import pytest

from horae.domain.targets.targets import QueueTarget
from horae.service.tasks import tasks
from horae.service.workers import workers
from horae.service.workers.answer_sizes import ATTEMPT_BYTES, MAX_ANSWER_BYTES, AnswerSizes, fitting
from horae.store.cells import Cell
from horae.upkeep.copies import Copier
from tests.steps import a_type, query

LARGE = "x" * 60_000
MANY = 100


@pytest.fixture
def claims_run(monkeypatch):
    """How often a transaction of a claim was begun."""
    begun, right = [], Cell.run

    async def counting(self, work):
        begun.append(work)
        return await right(self, work)

    monkeypatch.setattr(Cell, "run", counting)
    return begun


async def all_claimed(ctx, limit=1000):
    """Answer by answer, until nothing is left."""
    answers = []
    while taken := await workers.claim(ctx, "q", "w", limit):
        answers.append(taken)
    return answers


@pytest.mark.parametrize("own", [True, False], ids=["payloads of tasks", "payload of the job"])
async def test_large_payloads_are_handed_out_in_several_answers(ctx, store, own):
    payload = {"text": LARGE}
    await a_type(ctx, "T", target=QueueTarget("q"), **({} if own else {"payload": payload}))
    await Copier(store).once()
    for n in range(MANY):
        await tasks.schedule(ctx, "T", f"k{n}", **({"payload": payload} if own else {}))
    answers = await all_claimed(ctx)
    assert all(len(msgspec.json.encode(taken)) <= MAX_ANSWER_BYTES for taken in answers)
    assert 1 < len(answers) <= 4
    handed = [one for taken in answers for one in taken]
    assert sorted(one.key for one in handed) == sorted(f"k{n}" for n in range(MANY))
    assert {one.attempt for one in handed} == {1}
    assert all(one.payload == payload for one in handed)
    assert {row["crash_count"] for row in await query(store, "select crash_count from instance_live")} == {0}


async def test_the_size_of_a_queues_attempts_is_remembered(ctx, store, claims_run):
    await a_type(ctx, "T", target=QueueTarget("q"))
    await Copier(store).once()
    for n in range(3 * MANY):
        await tasks.schedule(ctx, "T", f"k{n}", payload={"text": LARGE})
    claims_run.clear()
    await workers.claim(ctx, "q", "w", 1000)
    first = len(claims_run)
    await workers.claim(ctx, "q", "w", 1000)
    assert (first, len(claims_run) - first) == (2, 1)


async def test_small_payloads_are_handed_out_at_once(ctx, store, claims_run):
    await a_type(ctx, "T", target=QueueTarget("q"), payload={"a": 1})
    await Copier(store).once()
    for n in range(MANY):
        await tasks.schedule(ctx, "T", f"k{n}")
    claims_run.clear()
    assert len(await workers.claim(ctx, "q", "w", 1000)) == MANY
    assert len(claims_run) == len(store.cells)


def test_one_attempt_always_fits_into_an_empty_answer():
    assert fitting([MAX_ANSWER_BYTES + 1, 1], MAX_ANSWER_BYTES) == 1
    assert fitting([MAX_ANSWER_BYTES + 1, 1], MAX_ANSWER_BYTES - 1) == 0
    assert fitting([1, 1], MAX_ANSWER_BYTES) == 2


def test_a_thousand_small_attempts_fit():
    assert AnswerSizes().most("q", MAX_ANSWER_BYTES) > 1000
    assert fitting([ATTEMPT_BYTES + 3000] * 1000, MAX_ANSWER_BYTES) == 1000
