import pytest

from horae.api.app import AppParts
from horae.boot.api_server import app_of
from horae.service.workers.polls import Polls
from tests.steps import query


@pytest.fixture
def heard():
    return []


@pytest.fixture
def app(settings, doors, callers, heard):
    return app_of(settings, doors, callers, AppParts(polls=Polls(doors), closed=lambda: heard.append(1)))


async def test_a_request_that_meets_a_closed_shard_is_refused_and_the_process_hears_of_it(admin, store, tenant, heard):
    asked = {"name": "j", "cron": "* * * * *"}
    assert (await admin.post("/jobs", json=asked)).status_code == 201
    assert heard == []
    await query(store, "update shard set state = 'FROZEN' where shard_id = $1", tenant.shard("j"))
    refused = await admin.post("/jobs/j/pause", headers={"Idempotency-Key": "k"})
    assert (refused.status_code, refused.json()["code"]) == (503, "SCH_503_SHARD_CLOSED")
    assert heard == [1]
