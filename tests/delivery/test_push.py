"""What a target receives, and what its answer means for the attempt."""

from uuid import UUID

import msgspec
import pytest

from horae.delivery.client import Client
from horae.delivery.names import EgressRefused
from horae.delivery.push import Sender
from horae.delivery.request_plans import plain
from horae.domain.instances.instances import Instance
from horae.domain.instances.outcomes import (
    AcceptedCall,
    DeclinedCall,
    ErrorCode,
    Retryable,
    Success,
    Unrecoverable,
)
from horae.domain.jobs.jobs import own_queue
from horae.domain.schedules.triggers import cron
from horae.domain.targets.calls import Call
from horae.domain.targets.targets import HttpTarget
from horae.domain.workers.completion_tokens import is_completion_token
from tests.delivery.builders import a_job, an_attempt
from tests.delivery.server import answer
from tests.domain.builders import TOKEN
from tests.egress import ANYWHERE


async def test_the_call_is_the_body_and_the_headers_name_key_attempt_and_trace(sender, server, received):
    job = a_job(HttpTarget(f"{server.url}/hook"), payload={"a": 1})
    done = await sender.deliver(an_attempt(3), job)
    assert (done.outcome, done.status, done.answer) == (Success(), 200, "ok")
    assert msgspec.json.decode(received.bodies[0]) == {
        "job": "report",
        "instance": "ins_00000000000000000000000001",
        "fire_time": "2026-11-15T09:00:00Z",
        "attempt": 3,
        "idempotency_key": "job:t:42:1",
        "key": "42",
        "payload": {"a": 1},
    }
    [headers] = received.headers
    assert received.lines == ["POST /hook HTTP/1.1"]
    assert headers["idempotency-key"] == "job:t:42:1"
    assert headers["horae-attempt"] == "3"
    assert headers["content-type"] == "application/json"
    assert headers["user-agent"] == "horae"
    assert is_completion_token(headers["horae-completion-token"], UUID(int=1), 3, TOKEN)


async def test_all_attempts_of_an_instance_share_a_trace_with_a_span_each(sender, server, received):
    job = a_job(HttpTarget(server.url))
    for attempt in (1, 2):
        await sender.deliver(an_attempt(attempt), job)
    (version, trace, first, flags), (_, again, second, _) = (h["traceparent"].split("-") for h in received.headers)
    assert (version, trace, flags) == ("00", UUID(int=1).hex, "01")
    assert trace == again
    assert first != second
    assert len(first) == 16


async def test_an_attempt_without_a_token_carries_none(sender, server, received):
    await sender.deliver(an_attempt(token=None), a_job(HttpTarget(server.url)))
    assert "horae-completion-token" not in received.headers[0]


async def test_templates_fill_query_headers_and_body(sender, server, received):
    target = HttpTarget(
        f"{server.url}/hook?fixed=1",
        method="PUT",
        headers={"X-Key": "<{{key}}>", "content-type": "application/x+json"},
        query={"at": "{{fire_time}}", "p": "{{payload.text}}", "still": "a b"},
        body={"n": "{{payload.n}}", "try": "{{attempt}}"},
    )
    ran = an_attempt(payload={"text": "&x=1\r\nä", "n": [1, 2]})
    await sender.deliver(ran, a_job(target))
    query = "fixed=1&at=2026-11-15T09%3A00%3A00Z&p=%26x%3D1%0D%0A%C3%A4&still=a%20b"
    assert received.lines == [f"PUT /hook?{query} HTTP/1.1"]
    assert (received.headers[0]["x-key"], received.headers[0]["content-type"]) == ("<42>", "application/x+json")
    assert msgspec.json.decode(received.bodies[0]) == {"n": [1, 2], "try": 1}


async def test_business_dates_are_filled_and_the_call_itself_stays_plain(sender, server, received):
    query = {"day": "{{fire_time | Asia/Shanghai | %Y%m%d}}", "since": "{{previous_fire_time | UTC | %H:%M}}"}
    job = a_job(HttpTarget(server.url, query=query), trigger=cron("*/30 * * * *"))
    await sender.deliver(an_attempt(), job)
    assert received.lines == ["POST /?day=20261115&since=08%3A30 HTTP/1.1"]
    assert msgspec.json.decode(received.bodies[0]).keys() == set(Call.__struct_fields__)


async def test_a_get_has_a_query_and_no_body(sender, server, received):
    target = HttpTarget(f"{server.url}/poll", method="GET", query={"q": "a/b"})
    await sender.deliver(an_attempt(), a_job(target))
    assert received.lines == ["GET /poll?q=a%2Fb HTTP/1.1"]
    assert received.bodies == [b""]


async def test_a_payload_cannot_write_headers(sender, server, received):
    job = a_job(HttpTarget(server.url, headers={"X-Key": "{{payload.evil}}"}))
    for evil in ("a\r\nX-Admin: yes", "a\nb", "a\0"):
        done = await sender.deliver(an_attempt(payload={"evil": evil}), job)
        assert isinstance(done.outcome, Unrecoverable)
        assert done.outcome.code is ErrorCode.UNSENDABLE
    assert received.lines == []


@pytest.mark.parametrize(
    ("key", "header"),
    [
        ("j:t:42:1", "j:t:42:1"),
        ("j:t:文:1", "j:t:%E6%96%87:1"),
        ("j:t:a b:1", "j:t:a%20b:1"),
        ("j:t:a%20b:1", "j:t:a%2520b:1"),
        ("j:t:a\r\nX: y:1", "j:t:a%0D%0AX:%20y:1"),
    ],
)
async def test_a_key_that_no_header_could_carry_is_encoded_so_that_no_two_look_alike(
    sender, server, received, key, header
):
    await sender.deliver(an_attempt(idem_key=key), a_job(HttpTarget(server.url)))
    assert received.headers[0]["idempotency-key"] == header == plain(key)
    assert msgspec.json.decode(received.bodies[0])["idempotency_key"] == key


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        (answer(202), AcceptedCall(60.0)),
        (answer(200, horae_outcome="declined"), DeclinedCall()),
        (answer(204), Success()),
        (answer(503, retry_after="7"), Retryable(ErrorCode.HTTP_5XX, "answered 503", 7.0)),
        (
            answer(429, retry_after="Wed, 21 Oct 2026 07:28:30 GMT", date="Wed, 21 Oct 2026 07:28:00 GMT"),
            Retryable(ErrorCode.HTTP_429, "answered 429", 30.0),
        ),
        (answer(404), Unrecoverable(ErrorCode.HTTP_4XX, "answered 404")),
    ],
)
async def test_an_answer_is_judged(sender, server, received, said, outcome):
    received.answers = [said]
    done = await sender.deliver(an_attempt(), a_job(HttpTarget(server.url, completion_seconds=60)))
    assert done.outcome == outcome


async def test_the_beginning_of_an_answer_is_kept_without_nulls(sender, server, received):
    received.answers = [answer(500, b"a\0\xff" + b"x" * 5000)]
    done = await sender.deliver(an_attempt(), a_job(HttpTarget(server.url)))
    assert done.answer == "a��" + "x" * 2045


async def test_no_answer_is_retried_and_no_allowed_address_is_not(server):
    nobody = await Sender(Client(ANYWHERE)).deliver(an_attempt(), a_job(HttpTarget("http://127.0.0.1:9/")))
    assert isinstance(nobody.outcome, Retryable)
    assert (nobody.outcome.code, nobody.status) == (ErrorCode.CONNECT, None)

    async def refuse(host: str, port: int) -> list[str]:
        raise EgressRefused("not this one")

    refused = await Sender(Client(ANYWHERE, resolve=refuse)).deliver(an_attempt(), a_job(HttpTarget(server.url)))
    assert refused.outcome == Unrecoverable(ErrorCode.REFUSED, "not this one")


async def test_a_job_that_is_pulled_cannot_be_pushed(sender):
    done = await sender.deliver(an_attempt(), a_job(own_queue("mail")))
    assert isinstance(done.outcome, Unrecoverable)
    assert done.outcome.code is ErrorCode.NO_TARGET


async def test_a_new_version_is_sent_its_own_way(sender, server, received):
    for path in ("/one", "/two"):
        ran: Instance = an_attempt()
        await sender.deliver(ran, a_job(HttpTarget(server.url + path)))
    assert received.lines == ["POST /one HTTP/1.1", "POST /two HTTP/1.1"]
