"""Several attempts in one request, each judged for itself."""

import msgspec
import pytest
from standardwebhooks import Webhook

from horae.delivery import batches
from horae.delivery.batches import MAX_BATCH_BYTES
from horae.delivery.push import Sender
from horae.delivery.secrets import secrets_in_memory
from horae.delivery.waiting import wait_for_callback
from horae.domain.instances.outcomes import (
    AcceptedCall,
    DeclinedCall,
    ErrorCode,
    Retryable,
    Success,
    Unrecoverable,
)
from horae.domain.targets.calls import completion_of
from horae.domain.targets.targets import HttpTarget
from tests.delivery.builders import TENANT, a_job, an_attempt
from tests.delivery.server import answer

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
RUNS = [an_attempt(idem_key=f"k{number}", payload=number) for number in range(3)]


async def push(sender, server, **facts):
    job = a_job(HttpTarget(server.url, batch=10, **facts))
    return await wait_for_callback(lambda done: sender.push_batch(RUNS, job, done))


async def test_every_call_has_its_own_key_and_completion_token(sender, server, received):
    done = await push(sender, server)
    assert [one.outcome for one in done] == [Success()] * 3
    said = msgspec.json.decode(received.bodies[0])["batch"]
    assert [(call["idempotency_key"], call["payload"]) for call in said] == [("k0", 0), ("k1", 1), ("k2", 2)]
    assert [call["completion_token"] for call in said] == [completion_of(ran) for ran in RUNS]
    assert not {"idempotency-key", "horae-attempt", "horae-completion-token"} & set(received.headers[0])


async def test_results_are_judged_one_by_one(sender, server, received):
    results = [{"status": 200, "outcome": "declined"}, {"status": 503, "retry_after": 9}, {"status": 404}]
    received.answers = [answer(207, msgspec.json.encode({"results": results}))]
    done = await push(sender, server)
    assert [one.outcome for one in done] == [
        DeclinedCall(),
        Retryable(ErrorCode.HTTP_5XX, "answered 503", 9.0),
        Unrecoverable(ErrorCode.HTTP_4XX, "answered 404"),
    ]
    assert {one.status for one in done} == {207}


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        (answer(200, b"thanks"), Success()),
        (answer(200, b'{"ok": true}'), Success()),
        (answer(200, b"[]"), Success()),
        (answer(202), AcceptedCall(300.0)),
        (answer(500, b'{"results": [{"status": 200}]}'), Retryable(ErrorCode.HTTP_5XX, "answered 500")),
    ],
)
async def test_without_results_the_one_status_counts_for_all(sender, server, received, said, outcome):
    received.answers = [said]
    assert [one.outcome for one in await push(sender, server)] == [outcome] * 3


@pytest.mark.parametrize(
    "results", [[], [{"status": 200}], [{"status": "yes"}] * 3, [{"status": 99}] * 3, "all", [{"status": 200}] * 50_000]
)
async def test_results_that_do_not_fit_prove_nothing(sender, server, received, results):
    received.answers = [answer(200, msgspec.json.encode({"results": results}))]
    for one in await push(sender, server):
        assert isinstance(one.outcome, Retryable)
        assert one.outcome.code is ErrorCode.PROTOCOL


async def test_a_single_attempt_of_a_batch_target_is_a_batch_of_one(sender, server, received):
    done = await sender.deliver(RUNS[0], a_job(HttpTarget(server.url, batch=10)))
    assert done.outcome == Success()
    assert len(msgspec.json.decode(received.bodies[0])["batch"]) == 1


async def test_a_batch_sent_again_has_the_same_signed_id(client, server, received):
    sender = Sender(client, secrets_in_memory({TENANT: {"hook": SECRET}}))
    for _ in range(2):
        await push(sender, server, signing="hook")
    assert len({headers["webhook-id"] for headers in received.headers}) == 1
    Webhook(SECRET).verify(received.bodies[0], received.headers[0])


async def test_no_answer_is_no_answer_for_each(sender):
    job = a_job(HttpTarget("http://127.0.0.1:9/", batch=10))
    done = await wait_for_callback(lambda done: sender.push_batch(RUNS, job, done))
    assert [one.outcome.code for one in done] == [ErrorCode.CONNECT] * 3


async def test_a_request_is_bounded_by_bytes_and_each_call_gets_its_own_answer(sender, server, received):
    """One request in a turn of the loop: 400 calls of 60 KB held up everybody for as long as 24 MB take."""
    runs = [an_attempt(idem_key=f"k{number}", payload="x" * 60_000) for number in range(40)]
    job = a_job(HttpTarget(server.url, batch=400))
    received.answers = [answer(503)]
    done = await wait_for_callback(lambda done: sender.push_batch(runs, job, done))
    assert max(map(len, received.bodies)) < MAX_BATCH_BYTES + 1000
    told = [call["idempotency_key"] for body in received.bodies for call in msgspec.json.decode(body)["batch"]]
    assert sorted(told) == sorted(ran.idem_key for ran in runs)
    failed = {call["idempotency_key"] for call in msgspec.json.decode(received.bodies[0])["batch"]}
    assert [one.outcome == Success() for one in done] == [ran.idem_key not in failed for ran in runs]
    assert len(received.bodies) == 5


async def test_a_call_larger_than_a_request_goes_alone(sender, server, received, monkeypatch):
    monkeypatch.setattr(batches, "MAX_BATCH_BYTES", 10)
    assert [one.outcome for one in await push(sender, server)] == [Success()] * 3
    assert len(received.bodies) == 3


async def test_calls_that_cannot_be_encoded_fail_by_themselves(sender, server, received):
    job = a_job(HttpTarget(server.url, batch=10))
    done = await wait_for_callback(lambda done: sender.push_batch([an_attempt(payload=object())], job, done))
    assert isinstance(done[0].outcome, Retryable)
