"""Receivers: whose calls they are, in every framework, and an effect once per key in people's own databases."""

import asyncio
import json
import threading
import time
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import httpx2
import pytest
import sqlalchemy
import standardwebhooks
from fastapi import FastAPI
from flask import Flask
from starlette.applications import Starlette

from horae.delivery import signing
from horae_client import AsyncClient, Declined, Keyed, Retry, Snooze, Unrecoverable, Worker, receive
from horae_client.receive import BadSignature, Call, Receiver, sign, verify
from tests.sdk.databases import Database

SECRET = "whsec_" + b64encode(b"x" * 32).decode()
OTHER = "whsec_" + b64encode(b"y" * 32).decode()
CALL = {
    "job": "PUBLISH", "instance": "ins_1", "fire_time": "2035-01-01T09:00:00Z", "attempt": 2,
    "idempotency_key": "kü:1", "key": "article-42", "payload": {"title": "x"},
}  # fmt: skip
BODY = json.dumps(CALL).encode()
HEADERS = {"Idempotency-Key": "k%C3%BC:1", "Horae-Attempt": "2", "traceparent": "00-1-2-01"}


def ours(secret: str = SECRET, body: bytes = BODY) -> dict[str, str]:
    return HEADERS | sign(secret, "k%C3%BC:1", body)


def test_what_the_server_signs_is_ours_also_while_secrets_are_rotated():
    stamp = int(time.time())
    both = signing.sign(signing.keys_of(f"{SECRET} {OTHER}"), "id", stamp, BODY)
    headers = {"webhook-id": "id", "webhook-timestamp": str(stamp), "webhook-signature": both}
    for known in (
        SECRET,
        OTHER,
        [OTHER, SECRET],
        f"{OTHER} {SECRET}",
        ["whsec_" + b64encode(b"z" * 32).decode(), OTHER],
    ):
        assert verify(known, headers, BODY) == "id"


def test_the_headers_we_make_satisfy_the_reference_library():
    headers = sign(SECRET, "id", BODY)
    assert standardwebhooks.Webhook(SECRET).verify(BODY, headers) == CALL


@pytest.mark.parametrize(
    "change",
    [
        lambda headers: headers.pop("webhook-signature"),
        lambda headers: headers.pop("webhook-id"),
        lambda headers: headers.update({"webhook-timestamp": "soon"}),
        lambda headers: headers.update({"webhook-timestamp": str(int(time.time()) - 301)}),
        lambda headers: headers.update({"webhook-timestamp": str(int(time.time()) + 301)}),
        lambda headers: headers.update({"webhook-id": "other"}),
        lambda headers: headers.update({"webhook-signature": headers["webhook-signature"].replace("v1,", "v2,")}),
        lambda headers: headers.update({"webhook-signature": "v1,ünsinn"}),
        lambda headers: headers.update(sign(OTHER, "k%C3%BC:1", BODY)),
    ],
)
def test_a_call_that_is_not_ours_is_refused(change):
    headers = ours()
    change(headers)
    with pytest.raises(BadSignature):
        verify(SECRET, headers, BODY)


@pytest.mark.parametrize("away", [-301, 301])
def test_a_rightly_signed_call_is_good_for_five_minutes_either_way(away):
    headers = sign(SECRET, "id", BODY, now=1_000_000)
    assert verify(SECRET, headers, BODY, now=1_000_000 + away - away // 301) == "id"
    with pytest.raises(BadSignature, match="too old"):
        verify(SECRET, headers, BODY, now=1_000_000 + away)


def test_a_bad_secret_is_found_at_the_start():
    for bad in ("", "whsec_", "secret", "whsec_!!", []):
        with pytest.raises(ValueError, match="secret"):
            Receiver(bad)


def handler(call: Call) -> object:
    assert (call.idempotency_key, call.attempt, call.key, call.fire_time) == (
        "kü:1", 2, "article-42", datetime(2035, 1, 1, 9, tzinfo=UTC),
    )  # fmt: skip
    match call.payload["title"]:
        case "declined":
            raise Declined("withdrawn")
        case "retried":
            return Retry("busy", after=9.6)
        case "early":
            return Snooze(30, "not audited yet")
        case "dead":
            raise Unrecoverable("no such article")
    return None


async def waiting_handler(call: Call) -> object:
    await asyncio.sleep(0)
    return handler(call)


class Sent:
    """The same requests to every framework."""

    def __init__(self, post) -> None:
        self.post = post

    async def check(self) -> None:
        said = {}
        for title in ("x", "declined", "retried", "early", "dead"):
            body = json.dumps(CALL | {"payload": {"title": title}}).encode()
            status, headers = await self.post(body, ours(body=body))
            told = {name.lower(): value for name, value in headers.items()}
            said[title] = (status, told.get("horae-outcome"), told.get("retry-after"))
        assert said == {
            "x": (204, None, None),
            "declined": (200, "declined", None),
            "retried": (503, None, "10"),
            "early": (425, None, "30"),
            "dead": (422, None, None),
        }
        assert (await self.post(BODY, ours(OTHER)))[0] == 401


@pytest.mark.parametrize("framework", ["fastapi", "starlette"])
@pytest.mark.parametrize("handle", [handler, waiting_handler], ids=["plain", "async"])
async def test_a_route_of_starlette_and_fastapi(framework, handle):
    app = FastAPI() if framework == "fastapi" else Starlette()
    app.add_route("/hooks", Receiver([OTHER[:-1] + "=", SECRET][1:]).starlette(handle), methods=["POST"])
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://app.test") as client:

        async def post(body, headers):
            answer = await client.post("/hooks", content=body, headers=headers)
            return answer.status_code, answer.headers

        await Sent(post).check()


async def test_a_view_of_flask():
    app = Flask("app")
    app.post("/hooks")(Receiver(SECRET).flask(handler))
    client = app.test_client()

    async def post(body, headers):
        answer = client.post("/hooks", data=body, headers=headers)
        return answer.status_code, answer.headers

    await Sent(post).check()


async def test_a_view_of_django():
    from django.conf import settings

    if not settings.configured:
        settings.configure(ALLOWED_HOSTS=["*"])
    from django.test import RequestFactory

    view = Receiver(SECRET).django(handler)

    async def post(body, headers):
        request = RequestFactory().post("/hooks", data=body, content_type="application/json", headers=headers)
        answer = view(request)
        return answer.status_code, answer.headers

    await Sent(post).check()
    assert view.csrf_exempt
    assert view(RequestFactory().get("/hooks")).status_code == 405


def effects(database: Database) -> list[tuple[object, ...]]:
    return sorted(database.rows("select idem_key, what from effect"))


@pytest.fixture
def furnished(database: Database) -> Database:
    connection = database.connect()
    connection.cursor().execute(receive.ddl(database.kind))
    connection.commit()
    connection.close()
    return database


def effect(connection, call):
    cursor = connection.cursor()
    cursor.execute("insert into effect (idem_key, what) values (%s, 'done')", (call.idempotency_key,))
    if call.payload == "decline":
        return Declined("not pending")
    if call.payload == "fail":
        raise RuntimeError("halfway")
    return None


def test_a_key_is_kept_with_the_effect_or_not_at_all(furnished):
    handle = receive.effective_once(furnished.connect, effect)
    assert isinstance(handle(Call(idempotency_key="k", payload="decline")), Declined)
    with pytest.raises(RuntimeError):
        handle(Call(idempotency_key="k", payload="fail"))
    assert effects(furnished) == []
    for _ in range(3):
        assert handle(Call(idempotency_key="k")) is None
    assert effects(furnished) == [("k", "done")]
    assert furnished.rows("select idem_key from horae_effect") == [("k",)]


def test_two_at_once_take_effect_once(furnished):
    meeting = threading.Barrier(8, timeout=20)
    handle = receive.effective_once(furnished.connect, effect)

    def both(_):
        meeting.wait()
        return handle(Call(idempotency_key="k"))

    with ThreadPoolExecutor(8) as many:
        assert list(many.map(both, range(8))) == [None] * 8
    assert effects(furnished) == [("k", "done")]


def test_once_goes_with_a_session_too(furnished):
    engine = sqlalchemy.create_engine(furnished.sqlalchemy)
    with engine.connect() as connection:
        assert receive.once(connection, "k")
        connection.rollback()
        assert receive.once(connection, "k")
        connection.commit()
        assert not receive.once(connection, "k")
    engine.dispose()


async def test_a_task_replaced_while_its_first_call_is_in_flight_takes_effect_when_it_is_due(furnished, home):
    """The first call finds that it is not time any more and declines; the replacement comes under the same key."""
    begun, moved = threading.Event(), threading.Event()
    due: dict[str, datetime] = {"k": datetime.now(UTC)}
    seen = []

    def publish(connection, ctx):
        seen.append((ctx.attempt, ctx.idempotency_key))
        effect(connection, Call(idempotency_key=ctx.idempotency_key))
        if len(seen) == 1:
            begun.set()
            assert moved.wait(30)
        if due["k"] > datetime.now(UTC):
            raise Declined("not due any more")

    worker = Worker(home.url, home.key, wait=0.3)
    worker.task("PUBLISH")(receive.effective_once(furnished.connect, publish))
    async with AsyncClient(home.url, home.key) as client:
        await client.jobs.create("PUBLISH", trigger=Keyed())
        await client.tasks.schedule("PUBLISH", "k")
        serving = asyncio.create_task(worker.serve())
        await asyncio.to_thread(begun.wait, 30)
        due["k"] = datetime.now(UTC) + timedelta(seconds=1)
        replaced = await client.tasks.schedule("PUBLISH", "k", at=due["k"])
        assert replaced.decision == "replaced"
        moved.set()
        deadline = time.monotonic() + 60
        while (await client.tasks.get("PUBLISH", "k")).live is not None:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.05)
        worker.stop()
        await serving
        assert (await client.tasks.get("PUBLISH", "k")).outcome == "SUCCESS"
    assert len({key for _, key in seen}) == 1
    assert effects(furnished) == [(seen[0][1], "done")]
    assert worker.counts["late"] == 1


def test_two_batches_are_two_effects_though_neither_names_a_key(database: Database):
    done = []
    with database.connect() as connection:
        connection.cursor().execute(receive.ddl(database.kind))
        connection.commit()
    handle = receive.effective_once(database.connect, lambda _connection, call: done.append(call.body))
    receiver = Receiver(SECRET)
    for id_ in ("batch-1", "batch-2", "batch-2"):
        body = json.dumps([{"id": id_}]).encode()
        assert receiver.answer(receive.Received(sign(SECRET, id_, body), body), handle)[0] == 204
    assert done == [[{"id": "batch-1"}], [{"id": "batch-2"}]]


def test_a_kept_call_cannot_be_sent_again_under_another_key():
    """The header is not signed; the id that is signed is the key."""
    headers = sign(SECRET, "k%C3%BC:1", b"") | {"Idempotency-Key": "another"}
    assert Receiver(SECRET).call(receive.Received(headers, b"")).idempotency_key == "kü:1"


def test_an_effect_without_a_key_is_refused():
    with pytest.raises(ValueError, match="idempotency key"):
        receive.once(None, "")


@pytest.mark.parametrize("stamp", ["9" * 400, "-" + "9" * 400, "9" * 5000])
def test_a_time_of_very_many_digits_is_a_bad_signature(stamp):
    with pytest.raises(BadSignature):
        verify(SECRET, ours() | {"webhook-timestamp": stamp}, BODY)
