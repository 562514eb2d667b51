"""Reports and heartbeats without a server: what is refused, cut, or answered by somebody else."""

import asyncio
import time
from datetime import UTC, datetime, timedelta

import httpx2
import msgspec
import pytest

from horae_client import AsyncClient
from horae_client.models import Work
from horae_client.wire import MAX_RETRY_AFTER_S
from horae_client.work import held as holding
from horae_client.work import reports as reporting
from horae_client.work.context import Context
from horae_client.work.held import Held, HeldAttempts
from horae_client.work.reports import Reports, attempt_item, report_of


def a_held(n: int, left: float = 60.0) -> Held:
    now = datetime.now(UTC)
    work = Work(
        instance_id=f"ins_{n}", job="T", attempt=1, fire_time=now, idempotency_key=f"{n}", deadline=now, token=f"t-{n}"
    )
    return Held(work, Context(work, "w"), time.monotonic(), left)


def reported(items, **verdicts):
    """An answer for each: `done`, or what is said of it here."""
    answers = [
        {"instance_id": one["instance_id"], "attempt": 1, "status": 200}
        | {"verdict": "done"}
        | verdicts.get(one["instance_id"], {})
        for one in items
    ]
    return httpx2.Response(200, json={"items": answers})


class Server:
    """Answers as `answer` says: given the path and the items of a request."""

    def __init__(self, answer):
        self.asked = []
        self._answer = answer

    async def __call__(self, request):
        items = msgspec.json.decode(request.content)["items"]
        self.asked.append((request.url.path.rpartition("/")[2], items))
        answer = self._answer(*self.asked[-1])
        return await answer if asyncio.iscoroutine(answer) else answer

    def client(self):
        return AsyncClient("http://horae.test", "horae_k", transport=httpx2.MockTransport(self))


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    monkeypatch.setattr(reporting, "SOON", 0.01)
    monkeypatch.setattr(holding, "LOOK", 0.01)


async def said(server, number=16):
    """Report so many; returns the verdicts by instance."""
    heard = {}
    async with server.client() as client:
        reports = Reports(client, lambda told: heard.update({r.held.work.instance_id: v for r, v in told}), lanes=1)
        for n in range(number):
            one = a_held(n)
            reports.add(report_of(one, True, attempt_item(one.work)))
        assert await reports.flush(30)
    assert reports.unanswered == 0
    return heard


async def test_a_refused_message_is_halved_until_what_is_wrong_stands_alone_and_is_told_as_a_failure():
    def answer(verb, items):
        if verb == "finish" and any(one["instance_id"] == "ins_5" for one in items):
            return httpx2.Response(422, json={"code": "SCH_422_INVALID", "detail": "no such key"})
        return reported(items)

    server = Server(answer)
    assert await said(server) == {f"ins_{n}": "done" for n in range(16)}
    [(_, [failure])] = [one for one in server.asked if one[0] == "fail"]
    assert failure["instance_id"] == "ins_5"
    assert "no such key" in failure["message"]
    assert len(server.asked) <= 1 + 2 * 4 + 1


async def test_an_item_that_is_answered_invalid_is_told_as_a_failure_and_given_up_when_that_is_too():
    wrong = {"verdict": "invalid", "status": 422, "message": "wrong"}
    server = Server(lambda _verb, items: reported(items, ins_1=wrong))
    heard = await said(server, 3)
    assert heard == {"ins_0": "done", "ins_1": "refused", "ins_2": "done"}
    assert [verb for verb, _ in server.asked] == ["finish", "fail"]


@pytest.mark.parametrize(
    "foreign",
    [
        httpx2.Response(404, text="404 page not found"),
        httpx2.Response(401, json={"code": "SCH_401_UNAUTHENTICATED", "detail": "no key"}),
        httpx2.Response(200, json={"items": []}),
        httpx2.Response(200, content=b'{"items": ["\xff"]}'),
        httpx2.Response(200, headers={"content-encoding": "gzip"}, stream=httpx2.ByteStream(b"rubbish")),
    ],
    ids=["a proxy's 404", "a bad key", "too few", "bad bytes", "bad gzip"],
)
async def test_what_says_nothing_about_a_report_is_no_refusal_of_it(foreign):
    answers = [foreign]
    server = Server(lambda _verb, items: answers.pop() if answers else reported(items))
    assert await said(server, 3) == {f"ins_{n}": "done" for n in range(3)}


async def test_nobody_waits_as_long_as_a_page_of_maintenance_says(monkeypatch):
    slept = []

    async def sleep(seconds, real=asyncio.sleep):
        slept.append(seconds)
        await real(0)

    monkeypatch.setattr(reporting.asyncio, "sleep", sleep)
    answers = [httpx2.Response(503, text="maintenance", headers={"Retry-After": "86400"})]
    await said(Server(lambda _verb, items: answers.pop() if answers else reported(items)), 1)
    assert max(slept) == MAX_RETRY_AFTER_S


async def beating(server, held, until):
    async with server.client() as client:
        hands = HeldAttempts(client)
        for one in held:
            hands.take(one)
        task = asyncio.create_task(hands.beat())
        try:
            async with asyncio.timeout(60):
                while not until() and not task.done():
                    await asyncio.sleep(0.005)
            assert not task.done(), "somebody must go on beating"
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def test_what_a_silent_server_cannot_keep_is_given_up_at_its_deadline(monkeypatch):
    """Not when the message that hangs is given up: another may have it by then."""
    monkeypatch.setattr(holding, "PATIENCE", 3600.0)
    one, other = a_held(1, left=0.3), a_held(2, left=3600.0)

    async def silence():
        await asyncio.Event().wait()

    await beating(Server(lambda _verb, _items: silence()), [one, other], lambda: one.lost)
    assert not other.lost


async def test_an_answer_that_cannot_be_read_ends_no_heartbeat():
    one, now = a_held(1, left=1.0), datetime.now(UTC)
    bad = [httpx2.Response(200, headers={"content-encoding": "gzip"}, stream=httpx2.ByteStream(b"rubbish"))]

    def answer(_verb, items):
        if bad:
            return bad.pop()
        deadline = (now + timedelta(hours=1)).isoformat()
        told = [
            {"instance_id": item["instance_id"], "attempt": 1, "yours": True, "deadline": deadline} for item in items
        ]
        return httpx2.Response(200, json={"items": told, "now": now.isoformat()})

    before = one.ends_at
    await beating(Server(answer), [one], lambda: one.ends_at > before + 3000)
    assert not one.lost


async def test_a_deadline_counts_from_the_question_not_from_its_answer():
    one, now = a_held(1, left=10.0), datetime.now(UTC)
    one.beat_at = 0.0
    asked_at, deadline = [], (now + timedelta(seconds=30)).isoformat()

    async def answer():
        asked_at.append(time.monotonic())
        await asyncio.sleep(0.3)
        told = {"instance_id": "ins_1", "attempt": 1, "yours": True, "deadline": deadline}
        return httpx2.Response(200, json={"items": [told], "now": now.isoformat()})

    await beating(Server(lambda _verb, _items: answer()), [one], lambda: one.beat_at > 0.0)
    assert one.ends_at <= asked_at[0] + 30.0
