"""Ten thousand tokens that are not the attempt's own: none is accepted, each is counted."""

import asyncio
import random
import string

import pytest

from horae.runtime.telemetry import counts
from horae.security.roles import Role
from horae.service.context import Context
from horae.service.instances import instances
from tests.steps import move_clock, query

EACH, ROUNDS = 100, 17
LETTERS = string.ascii_letters + string.digits + "-_"
VERBS = {"finish": {}, "fail": {"message": "no"}, "heartbeat": {}}


@pytest.fixture
async def workers(client, store, tenant, other):
    """A worker of each tenant, and their contexts."""
    made = []
    for of in (tenant, other):
        admin = await client(Role.ADMIN, of=of, name="maker")
        assert (await admin.post("/jobs", json={"name": "pull"})).status_code == 201
        made.append((await client(Role.WORKER, of=of), Context.of(store, of, "test")))
    return made


async def begun(worker, ctx, prefix):
    for n in range(EACH):
        await instances.trigger(ctx, "pull", f"{prefix}{n}", even_if_down=True)
    return await polled(worker)


async def polled(worker):
    answer = await worker.post("/workers/poll", json={"queue": "pull", "worker_id": "w", "limit": EACH})
    return [{name: one[name] for name in ("instance_id", "attempt", "token")} for one in answer.json()["items"]]


async def said(worker, verb, items):
    told = [one | VERBS[verb] for one in items]
    return (await worker.post(f"/workers/{verb}", json={"items": told})).json()["items"]


def forged(one, dice):
    return one | {"token": "".join(dice.choices(LETTERS, k=43))}


def nearly(one, dice):
    """A letter is another, or is missing, or is one too many."""
    token, at = one["token"], dice.randrange(43)
    other = dice.choice(LETTERS.replace(token[at], ""))
    return one | {
        "token": dice.choice([token[:at] + other + token[at + 1 :], token[:at] + token[at + 1 :], token + other])
    }


async def test_no_forged_old_or_foreign_token_is_accepted_and_every_one_is_counted(workers, store, doors):
    dice = random.Random(7)
    (worker, ctx), (stranger, theirs) = workers
    done = await begun(worker, ctx, "done")
    assert {one["verdict"] for one in await said(worker, "finish", done)} == {"done"}
    old = await begun(worker, ctx, "old")
    assert {one["verdict"] for one in await said(worker, "fail", old)} == {"done"}
    await move_clock(store, hours=1)
    await asyncio.gather(*(cell.sync_clock() for cell in doors.cells))
    good = await polled(worker)
    assert {one["attempt"] for one in good} == {2}
    foreign = await begun(stranger, theirs, "theirs")
    swapped = [one | {"token": next_["token"]} for one, next_ in zip(good, good[1:] + good[:1], strict=True)]
    aged = [one | {"attempt": 2} for one in old]
    before, refused, asked = counts["worker.refused"], 0, 0
    rows = await query(store, "select * from instance_live order by id")
    for round_ in range(ROUNDS):
        verb = list(VERBS)[round_ % 3]
        for asking, items in (
            (worker, [forged(one, dice) for one in good]),
            (worker, [nearly(one, dice) for one in good]),
            (worker, old if round_ % 2 else aged),
            (worker, done if round_ % 2 else swapped),
            (stranger, good),
            (worker, foreign),
        ):
            answers = await said(asking, verb, items)
            refused += sum(one.get("status") == 409 or one.get("yours") is False for one in answers)
            asked += len(answers)
    assert asked == refused == counts["worker.refused"] - before == EACH * ROUNDS * 6 >= 10_000
    assert await query(store, "select * from instance_live order by id") == rows
    assert {one["verdict"] for one in await said(worker, "finish", good)} == {"done"}
    assert {one["verdict"] for one in await said(stranger, "finish", foreign)} == {"done"}
