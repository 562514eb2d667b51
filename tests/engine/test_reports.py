"""What a target answers besides its status: a result and lines, where its body says that it has some."""

import json
from datetime import timedelta

import pytest

from horae.domain.errors import NotFound
from horae.domain.instances.logs import BEGIN
from horae.domain.schedules.triggers import DelayTrigger
from horae.domain.targets.reports import REPORT_TYPE
from horae.domain.targets.targets import HttpTarget
from horae.service.instances import instances, logs, results, searches
from tests.nodes import node_in
from tests.receiver import receiving
from tests.steps import a_job, query

SAID = {"result": {"sent": 3}, "lines": [{"text": "begun"}, {"text": "slow", "level": "warning"}]}


@pytest.fixture
def receiver():
    with receiving() as receiver:
        yield receiver


@pytest.fixture
async def node(store):
    node = node_in(store, "n", timedelta(seconds=8))
    yield node
    await node.leave()


async def ended(ctx, node, receiver, body, kind=REPORT_TYPE, status=200):
    """The instance of a call that was answered like this."""
    receiver.bodies["/x"], receiver.types["/x"], receiver.answers["/x"] = body, kind, [status]
    await a_job(ctx, "a", DelayTrigger(0), target=HttpTarget(f"{receiver.url}/x"))
    await node.drain()
    [listed] = await instances.of_job(ctx, "a")
    return await searches.find(ctx, listed.id)


async def test_a_target_answers_with_a_result_and_lines(ctx, store, node, receiver):
    past = await ended(ctx, node, receiver, json.dumps(SAID).encode(), f"{REPORT_TYPE}; charset=utf-8")
    assert past.state == "SUCCESS"
    assert past.attempts[0].get("answer") is None
    assert (await results.find(ctx, past.id)).value == {"sent": 3}
    page = await logs.read(ctx, past.id, BEGIN, 100)
    assert [(line.attempt, line.line.level, line.line.text) for line in page.lines] == [
        (1, "info", "begun"),
        (1, "warning", "slow"),
    ]
    for table in ("instance_result", "log_batch"):
        [row] = await query(store, f"select body::text as body from {table}")
        assert "$sealed" in row["body"]
        assert "sent" not in row["body"]


async def test_a_body_of_another_type_is_the_targets_own_affair(ctx, store, node, receiver):
    past = await ended(ctx, node, receiver, json.dumps(SAID).encode(), "application/json")
    assert json.loads(past.attempts[0]["answer"]) == SAID
    with pytest.raises(NotFound):
        await results.find(ctx, past.id)
    assert (await logs.read(ctx, past.id, BEGIN, 100)).lines == []


@pytest.mark.parametrize(
    "body",
    [
        json.dumps({"result": "x" * 70_000}).encode(),
        b"{",
        b'{"lines": [{"level": 5}]}',
        json.dumps({"lines": [{"text": "x" * 9000}]}).encode(),
        b'{"result": "\\u0000"}',
    ],
)
async def test_a_report_that_cannot_be_stored_as_a_whole_is_not_stored_and_the_attempt_says_so(
    ctx, store, node, receiver, body
):
    past = await ended(ctx, node, receiver, body)
    assert past.state == "SUCCESS"
    assert past.attempts[0]["answer"].startswith("its report was not stored: ")
    for table in ("instance_result", "log_batch"):
        assert await query(store, f"select * from {table}") == []


async def test_a_failed_call_stores_no_report(ctx, store, node, receiver):
    past = await ended(ctx, node, receiver, json.dumps(SAID).encode(), status=503)
    assert past.state == "FAIL"
    for table in ("instance_result", "log_batch"):
        assert await query(store, f"select * from {table}") == []
