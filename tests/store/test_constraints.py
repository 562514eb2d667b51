"""The tables refuse what the rules never write: CHECK constraints tie states to their columns."""

from datetime import UTC, datetime
from uuid import uuid4

import asyncpg
import pytest

from horae.domain.instances.lifecycle import FINAL, LIVE, State

AT = datetime.now(UTC)
RUNS = {"token": uuid4(), "deadline": AT, "attempt": 1}
GOOD_LIVE = {
    State.INIT: {},
    State.BLOCKED: {},
    State.RUNNING: RUNS,
    State.FAIL: {"retry_count": 1},
}
GOOD_HISTORY = {
    State.SUCCESS: {},
    State.DEAD: {"error_code": "TIMEOUT", "error_msg": "no answer"},
    State.CANCELLED: {},
    State.SKIPPED: {"reason": "PAUSED"},
}
BAD_LIVE = [
    (State.RUNNING, {"token": None}),
    (State.RUNNING, {"deadline": None}),
    (State.RUNNING, {"attempt": 0}),
    (State.INIT, {"token": uuid4()}),
    (State.INIT, {"deadline": AT}),
    (State.INIT, {"owner": uuid4()}),
    (State.INIT, {"worker_id": "w"}),
    (State.FAIL, {"retry_count": 0}),
    (State.INIT, {"attempt": -1}),
    (State.INIT, {"priority": 3}),
    (State.INIT, {"lane": 3}),
    (State.INIT, {"slot_ms": 0}),
    (State.INIT, {"business_key": "42"}),
]
BAD_HISTORY = [
    (State.SUCCESS, {"error_msg": "left over"}),
    (State.SUCCESS, {"reason": "PAUSED"}),
    (State.SUCCESS, {"error_code": "TIMEOUT"}),
    (State.DEAD, {"error_code": None}),
    (State.SKIPPED, {"reason": None}),
    (State.SKIPPED, {"range_count": 2}),
    (State.SUCCESS, {"range_count": 2, "range_to": AT}),
]


async def insert(store, table, state, facts):
    base = {
        "id": uuid4(), "tenant_id": uuid4(), "job_id": uuid4(), "job_version": 1, "shard_id": 1, "priority": 1,
        "lane": 0, "fire_time": AT, "due_at": AT, "state": state, "idem_key": str(uuid4()), "attempt": 0,
        "retry_count": 0,
    }  # fmt: skip
    extra = {"changed_at": AT, "slot_ms": 1000} if table == "instance_live" else {"ended_at": AT}
    row = base | extra | facts
    columns, places = ", ".join(row), ", ".join(f"${n + 1}" for n in range(len(row)))
    async with store.cells[0].pool.acquire() as connection:
        await connection.execute(f"insert into {table} ({columns}) values ({places})", *row.values())


@pytest.mark.parametrize("state", list(State))
async def test_live_and_history_take_just_the_states_of_the_table(store, state):
    for table, good, states in (("instance_live", GOOD_LIVE, LIVE), ("instance_history", GOOD_HISTORY, FINAL)):
        if state in states:
            await insert(store, table, state, good[state])
        else:
            facts = {**GOOD_LIVE, **GOOD_HISTORY}[state]
            known = {"token", "deadline"} if table == "instance_history" else {"error_code", "reason"}
            facts = {name: value for name, value in facts.items() if name not in known}
            with pytest.raises(asyncpg.CheckViolationError):
                await insert(store, table, state, facts)


async def test_what_contradicts_its_state_is_refused(store):
    for table, bad, good in (
        ("instance_live", BAD_LIVE, GOOD_LIVE),
        ("instance_history", BAD_HISTORY, GOOD_HISTORY),
    ):
        for state, facts in bad:
            with pytest.raises(asyncpg.CheckViolationError):
                await insert(store, table, state, good[state] | facts)


async def test_a_key_has_one_live_instance_and_an_idempotency_key_one_row(store):
    job = uuid4()
    await insert(store, "instance_live", State.INIT, {"job_id": job, "business_key": "42", "generation": 1})
    with pytest.raises(asyncpg.UniqueViolationError):
        await insert(store, "instance_live", State.INIT, {"job_id": job, "business_key": "42", "generation": 2})
    await insert(store, "instance_live", State.INIT, {"idem_key": "same"})
    with pytest.raises(asyncpg.UniqueViolationError):
        await insert(store, "instance_live", State.INIT, {"idem_key": "same"})
