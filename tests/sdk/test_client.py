"""The carriers: what they say, what they understand, and when they ask again."""

import pickle
from datetime import UTC, datetime, timedelta

import httpx2
import pytest

from horae_client import AsyncClient, Client, Keyed, Put, Retries, errors
from horae_client.asked import jobs as asked_jobs
from horae_client.wire import Request

AT = datetime(2035, 1, 1, 9, tzinfo=UTC)
QUICK = Retries(base=0.001, longest=0.01)
DECIDED = {"decision": "created", "revision": 1}


class Heard:
    """A server that says what it was told to, and keeps what it heard."""

    def __init__(self, *answers: httpx2.Response | Exception) -> None:
        self.answers = list(answers)
        self.requests: list[httpx2.Request] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def client(self, retries: Retries = QUICK) -> Client:
        return Client("http://horae.test", "horae_k", retries=retries, transport=httpx2.MockTransport(self))


def problem(code: str, status: int, **headers: str) -> httpx2.Response:
    return httpx2.Response(status, json={"code": code, "detail": "no", "status": status}, headers=headers)


@pytest.mark.parametrize(
    "trouble",
    [
        httpx2.ConnectError("nobody"),
        httpx2.ReadTimeout("too long"),
        problem("SCH_500_INTERNAL", 500),
        problem("SCH_503_UNAVAILABLE", 503),
        httpx2.Response(502, text="<html>bad gateway</html>"),
        httpx2.Response(200, text='{"id": "job_'),
    ],
    ids=["connect", "timeout", "500", "503", "proxy", "cut"],
)
def test_a_call_keeps_its_key_over_all_its_tries(trouble):
    heard = Heard(trouble, problem("SCH_429_RATE_LIMITED", 429), httpx2.Response(202, json=_triggered()))
    assert heard.client().jobs.trigger("coupon_job").instance_id == "ins_1"
    sent = {one.headers["Idempotency-Key"] for one in heard.requests}
    assert len(heard.requests) == 3
    assert len(sent) == 1


def test_a_list_names_the_cells_that_it_had_to_do_without():
    pages = [{"items": [], "next": "c", "cells_down": ["cell-1"]}, {"items": [], "cells_down": ["cell-0"]}]
    heard = Heard(*(httpx2.Response(200, json=page) for page in pages))
    found = heard.client().jobs.list()
    assert found.cells_down == []
    assert (list(found), found.cells_down) == ([], ["cell-0", "cell-1"])


async def test_so_does_a_list_that_is_awaited():
    heard = Heard(httpx2.Response(200, json={"items": [], "cells_down": ["cell-1"]}))
    async with AsyncClient("http://horae.test", "horae_k", transport=httpx2.MockTransport(heard)) as client:
        found = client.jobs.list()
        assert ([job async for job in found], found.cells_down) == ([], ["cell-1"])


def test_two_calls_have_two_keys():
    heard = Heard(*(httpx2.Response(202, json=_triggered()) for _ in range(2)))
    client = heard.client()
    client.jobs.trigger("coupon_job")
    client.jobs.trigger("coupon_job")
    assert len({one.headers["Idempotency-Key"] for one in heard.requests}) == 2


def test_it_comes_back_no_sooner_than_it_was_told(monkeypatch):
    slept: list[float] = []
    monkeypatch.setattr("horae_client.client.time.sleep", slept.append)
    limited = problem("SCH_429_RATE_LIMITED", 429, **{"Retry-After": "7"})
    Heard(limited, httpx2.Response(200, json=DECIDED)).client().tasks.schedule("T", "k", at=AT)
    assert slept == [7.0]


def test_what_cannot_help_is_not_asked_again():
    for code, status in (("SCH_422_INVALID", 422), ("SCH_409_DUPLICATE", 409), ("SCH_404_NOT_FOUND", 404)):
        heard = Heard(problem(code, status))
        with pytest.raises(errors.Refused) as refused:
            heard.client().jobs.trigger("coupon_job")
        assert (refused.value.code, len(heard.requests)) == (code, 1)


def test_what_is_not_safe_to_ask_twice_is_not_asked_again_after_silence():
    heard = Heard(httpx2.ReadTimeout("too long"))
    with pytest.raises(errors.Unreachable):
        heard.client().instances.retry("ins_1")
    assert len(heard.requests) == 1


def test_it_gives_up_with_what_it_heard_last():
    heard = Heard(*(problem("SCH_503_UNAVAILABLE", 503) for _ in range(3)))
    with pytest.raises(errors.Unavailable):
        heard.client(Retries(tries=3, base=0.001)).jobs.pause("coupon_job")
    assert len(heard.requests) == 3


def test_every_code_of_the_server_has_its_class():
    from horae.api.openapi import codes

    known = errors.Refused.BY_CODE
    assert {code for some in codes().values() for code in some} - set(known) == {"SCH_503_UNFIT"}
    for status, some in codes().items():
        for code in some:
            assert errors.refusal(status, {"code": code}).code == code


def test_a_code_that_is_not_known_yet_is_told_by_its_status():
    assert type(errors.refusal(409, {"code": "SCH_409_NEW"})) is errors.Conflict
    assert type(errors.refusal(418, {})) is errors.Refused
    assert type(errors.refusal(599, {})) is errors.ServerFault


def test_a_refusal_survives_a_queue_between_processes():
    refusal = errors.refusal(404, {"code": "SCH_404_NOT_FOUND", "detail": "no such job"}, 3.0)
    again = pickle.loads(pickle.dumps(refusal))
    assert (type(again), str(again), again.retry_after) == (errors.NotFound, str(refusal), 3.0)


def test_a_time_without_an_offset_is_refused_before_anything_is_sent():
    with pytest.raises(ValueError, match="no offset"):
        Heard().client().tasks.schedule("T", "k", at=datetime(2035, 1, 1))
    with pytest.raises(ValueError, match="no offset"):
        Heard().client().tasks.schedule_many("T", [Put("k", at=datetime(2035, 1, 1))])


def test_a_client_needs_an_address_and_a_key(monkeypatch):
    monkeypatch.delenv("HORAE_URL", raising=False)
    with pytest.raises(ValueError, match="HORAE_URL"):
        Client(key="horae_k")
    monkeypatch.setenv("HORAE_URL", "http://horae.test")
    monkeypatch.setenv("HORAE_KEY", "horae_k")
    with Client() as client:
        assert client.http.headers["Authorization"] == "Bearer horae_k"


def test_a_field_of_a_newer_server_is_left_aside():
    heard = Heard(httpx2.Response(200, json=DECIDED | {"invented": 1}))
    assert heard.client().tasks.schedule("T", "k").decision == "created"


@pytest.mark.parametrize("key", ["a/b", "ü ä", "50%", "..", "?x=1", "#", "a//b"])
def test_a_key_arrives_as_it_was_meant(client, key):
    client.jobs.create("T", trigger=Keyed())
    client.tasks.schedule("T", key, at=AT, payload={"n": 1})
    task = client.tasks.get("T", key)
    assert (task.key, task.live.payload) == (key, {"n": 1})


def test_a_list_goes_over_its_pages_only_as_far_as_it_is_read(client):
    for number in range(5):
        client.jobs.create(f"job-{number}", cron="0 2 * * *")
    names = client.jobs.list(limit=2)
    assert next(names).name == "job-0"
    assert [job.name for job in names] == ["job-1", "job-2", "job-3", "job-4"]


def test_more_than_a_thousand_tasks_go_in_several_requests(client):
    client.jobs.create("T", trigger=Keyed())
    answers = client.tasks.schedule_many("T", [Put(f"k-{n}", at=AT + timedelta(seconds=n)) for n in range(1203)])
    assert [one.key for one in answers] == [f"k-{n}" for n in range(1203)]
    assert {one.answer.decision for one in answers} == {"created"}


def test_a_repeated_creation_under_one_key_is_one_job(client):
    one = client.jobs.create("REPORT", cron="0 2 * * *", idempotency_key="make-report")
    two = client.jobs.create("REPORT", cron="0 2 * * *", idempotency_key="make-report")
    assert one.id == two.id
    with pytest.raises(errors.NameTaken):
        client.jobs.create("REPORT", cron="0 2 * * *")
    with pytest.raises(errors.Duplicate):
        client.jobs.create("REPORT", cron="0 3 * * *", idempotency_key="make-report")


async def test_the_asynchronous_carrier_asks_again_too():
    heard = Heard(httpx2.ConnectError("nobody"), httpx2.Response(200, json=DECIDED))
    transport = httpx2.MockTransport(heard)
    async with AsyncClient("http://horae.test", "horae_k", retries=QUICK, transport=transport) as client:
        assert (await client.tasks.schedule("T", "k", at=AT)).decision == "created"
    assert len(heard.requests) == 2


def test_requests_are_values_that_anything_may_carry():
    request = asked_jobs.trigger("a b", {"n": 1}, "key-1")
    assert request == Request("POST", "/api/v1/jobs/a%20b/trigger", request.reads, {}, {"payload": {"n": 1}}, "key-1")
    assert request.content() == b'{"payload":{"n":1}}'


def _triggered():
    return {"instance_id": "ins_1", "job_id": "job_1", "job": "coupon_job"}


@pytest.mark.parametrize("at", ["2030-01-01T00:00:00Z", "tomorrow", 1_900_000_000, datetime(2030, 1, 1)], ids=repr)
def test_a_time_that_is_no_aware_datetime_is_refused_before_anything_is_sent(at):
    """TRIAL 2: a text was an AttributeError of ours."""
    heard = Heard()
    with pytest.raises(ValueError, match=r"is no datetime|has no offset"):
        heard.client().tasks.schedule("T", "k", at=at)
    assert heard.requests == []


def test_a_key_that_was_copied_from_an_example_says_what_is_wrong_with_it():
    """TRIAL 2: it was a UnicodeEncodeError from below."""
    with pytest.raises(ValueError, match=r"^the API key has '…' in it"):
        Client("http://horae.test", "horae_…")
    with pytest.raises(ValueError, match=r"^the idempotency key has '…' in it"):
        Heard().client().jobs.trigger("coupon_job", idempotency_key="order-…")


def test_the_ledger_of_a_key_is_read_into_frozen_structs():
    told = {
        "type": "T", "key": "k", "generation": 1, "revision": 2, "instance_id": "ins_1",
        "decisions": [
            {"decision": "created", "on": "2035-01-01T09:00:00Z", "by": "me", "at": "2035-01-02T09:00:00Z"},
            {"decision": "ignored", "on": "2035-01-01T09:00:00Z", "by": "me", "at": None, "reason": "stale"},
        ],
    }  # fmt: skip
    created, ignored = Heard(httpx2.Response(200, json=told)).client().tasks.get("T", "k").decisions
    assert (created.decision, created.on, created.at) == ("created", AT, AT + timedelta(days=1))
    assert (ignored.at, ignored.reason) == (None, "stale")
    with pytest.raises(AttributeError):
        created.decision = "moved"
