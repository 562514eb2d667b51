"""The attempts of an instance: when, by whom, what was called, and who may read what came back."""

from datetime import datetime, timedelta

import pytest
from structlog.testing import capture_logs

from horae.domain.ids import Prefix, public
from horae.domain.schedules.triggers import DelayTrigger
from horae.domain.targets.targets import HttpTarget
from horae.security.roles import Role
from horae.service.instances import instances
from tests.nodes import node_in
from tests.receiver import receiving
from tests.steps import a_job, move_clock, query

CANARY = "canary-5f0c1b7e"
SECRET = "query-9d2e4a10"
PLACE = f"/x?token={SECRET}"
FACTS = {"attempt", "started_at", "ended_at", "duration_ms", "node", "worker_id", "request", "status", "code", "answer"}


@pytest.fixture
def receiver():
    with receiving() as receiver:
        yield receiver


@pytest.fixture
async def node(store):
    node = node_in(store, "n1", timedelta(seconds=8))
    yield node
    await node.leave()


async def ran(ctx, store, node, url, times=1):
    """One job that was called so often; returns the id of its instance."""
    await a_job(ctx, "a", DelayTrigger(0), target=HttpTarget(url, query={"token": SECRET}))
    for _ in range(times):
        await node.drain()
        await move_clock(store, minutes=5)
    [listed] = await instances.of_job(ctx, "a")
    return public(Prefix.INSTANCE, listed.id)


async def test_a_failed_attempt_says_when_by_which_node_and_what_was_called(ctx, store, node, receiver, admin):
    receiver.answers[PLACE], receiver.bodies[PLACE] = [503], b"out of paper"
    id_ = await ran(ctx, store, node, f"{receiver.url}/x", times=2)
    shown = (await admin.get(f"/instances/{id_}")).json()
    failed, done = shown["attempts"]
    assert set(failed) == FACTS
    assert (failed["status"], failed["code"], failed["answer"]) == (503, "HTTP_5XX", "out of paper")
    assert {(one["node"], one["worker_id"]) for one in shown["attempts"]} == {("n1", None)}
    assert SECRET not in str(shown)
    assert {one["request"] for one in shown["attempts"]} == {f"POST {receiver.url.removeprefix('http://')}/x"}
    for one in shown["attempts"]:
        took = datetime.fromisoformat(one["ended_at"]) - datetime.fromisoformat(one["started_at"])
        assert took == timedelta(milliseconds=one["duration_ms"])
    assert failed["ended_at"] < done["started_at"] <= shown["changed_at"]


async def test_a_plain_success_costs_no_note_and_says_the_same(ctx, store, node, receiver, admin):
    receiver.bodies[PLACE] = b""
    id_ = await ran(ctx, store, node, f"{receiver.url}/x")
    [row] = await query(store, "select attempts, node from instance_history")
    assert (row["attempts"], row["node"]) == (None, "n1")
    [one] = (await admin.get(f"/instances/{id_}")).json()["attempts"]
    assert (one["node"], one["status"], one["code"]) == ("n1", 200, None)
    assert one["request"] == f"POST {receiver.url.removeprefix('http://')}/x"
    assert one["started_at"] <= one["ended_at"]


async def test_an_answer_is_for_those_who_may_read_payloads_and_in_no_log(ctx, store, node, receiver, admin, client):
    receiver.answers[PLACE], receiver.bodies[PLACE] = [500] * 9, CANARY.encode()
    with capture_logs() as logs:
        id_ = await ran(ctx, store, node, f"{receiver.url}/x")
        clients = {role: await client(role) for role in (Role.VIEWER, Role.AUDITOR, Role.OPERATOR, Role.EDITOR)}
        asked = clients | {Role.ADMIN: admin}
        seen = {role: await one.get(f"/instances/{id_}") for role, one in asked.items()}
    told = {role for role, answer in seen.items() if CANARY in answer.text}
    assert told == {Role.OPERATOR, Role.EDITOR, Role.ADMIN}
    [hidden] = seen[Role.VIEWER].json()["attempts"]
    assert (hidden["answer"], hidden["status"], hidden["node"]) == (None, 500, "n1")
    assert hidden["request"] is not None
    assert CANARY not in str(logs)
    narrow = await client(Role.ADMIN, name="narrow", scopes=["instances.*"])
    assert CANARY not in (await narrow.get(f"/instances/{id_}")).text


async def test_nothing_else_that_a_viewer_reads_has_the_answer(ctx, store, node, receiver, admin, client):
    receiver.answers[PLACE], receiver.bodies[PLACE] = [400], CANARY.encode()
    id_ = await ran(ctx, store, node, f"{receiver.url}/x")
    assert CANARY in (await admin.get(f"/instances/{id_}")).text
    viewer = await client(Role.VIEWER)
    for path in ("/instances", "/jobs/a/instances", "/dead-letters"):
        assert CANARY not in (await viewer.get(path)).text
    cancelled = await admin.post(f"/instances/{id_}/cancel")
    assert CANARY not in cancelled.text
