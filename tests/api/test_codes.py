"""The codes that no other test provokes; `tests/house/test_codes.py` lists where each one is."""

from tests.steps import query


async def code(asked) -> tuple[int, str]:
    answer = await asked
    return answer.status_code, answer.json()["code"]


async def test_a_name_can_be_taken_once(admin):
    await admin.post("/jobs", json={"name": "j"})
    assert await code(admin.post("/jobs", json={"name": "j"})) == (409, "SCH_409_NAME_TAKEN")


async def test_a_shard_that_is_moving_takes_nothing_and_says_come_back(admin, store):
    await admin.post("/jobs", json={"name": "j", "cron": "* * * * *"})
    await query(store, "update shard set state = 'FROZEN' where state = 'ACTIVE'")
    answer = await admin.post("/jobs", json={"name": "k"})
    assert (answer.status_code, answer.json()["code"]) == (503, "SCH_503_SHARD_CLOSED")
    assert int(answer.headers["Retry-After"]) >= 1
    assert [row["name"] for row in await query(store, "select name from job")] == ["j"]


async def test_what_keeps_moving_under_us_is_contended(admin, store):
    await admin.post("/jobs", json={"name": "j", "cron": "* * * * *"})
    await query(store, "update job_cursor set version = version + 1")  # as if others always came first
    assert await code(admin.patch("/jobs/j/labels", json={"labels": {"a": "b"}})) == (409, "SCH_409_CONTENDED")
    assert (await admin.get("/jobs/j")).json()["labels"] == {}


async def test_what_a_process_cannot_do_now_is_unavailable(admin):
    """This one was started without what sends calls."""
    await admin.post("/jobs", json={"name": "j"})
    answer = await admin.post("/jobs/j/test", json={})
    assert (answer.status_code, answer.json()["code"]) == (503, "SCH_503_UNAVAILABLE")
    assert int(answer.headers["Retry-After"]) >= 1
