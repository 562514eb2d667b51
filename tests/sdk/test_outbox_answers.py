"""The relay, and answers that are no word of Horae's about a row: every row is forwarded in the end."""

import httpx2
import pytest

from horae_client import Client, Keyed, outbox
from horae_client.outbox import relay as relaying
from horae_client.outbox.relay import Relay
from horae_client.retries import Retries
from tests.sdk.test_outbox import tasks_of, waiting


class Between(httpx2.HTTPTransport):
    """A proxy: what `answer` returns for a request is its own, all else is the server's."""

    def __init__(self, answer):
        super().__init__()
        self._answer = answer

    def handle_request(self, request):
        return self._answer(request) or super().handle_request(request)


@pytest.fixture
def relay_through(database, home, client, monkeypatch):
    client.jobs.create("PUBLISH", trigger=Keyed())
    client.jobs.create("OTHER", trigger=Keyed())

    def make(answer):
        def a_client(url, key, retries):
            assert retries.tries == 2
            return Client(url, key, retries=Retries(tries=2, base=0.001), transport=Between(answer))

        monkeypatch.setattr(relaying, "Client", a_client)
        return Relay(database.connect, home.url, home.key)

    return make


def add(database, *keys, type_name="PUBLISH"):
    connection = database.connect()
    for key in keys:
        outbox.add(connection, type_name, key)
    connection.commit()
    connection.close()


def foreign(status):
    return httpx2.Response(status, text="404 page not found", headers={"content-type": "text/plain"})


def contended():
    return httpx2.Response(409, json={"code": "SCH_409_CONTENDED", "detail": "it kept moving"})


@pytest.mark.parametrize("answer", [lambda: foreign(404), lambda: foreign(408), lambda: foreign(425), contended])
def test_an_answer_that_is_no_word_about_a_row_refuses_none(database, relay_through, client, answer):
    client.jobs.create("LATER", trigger=Keyed())
    client.tasks.schedule("LATER", "gone")
    answers = [answer() for _ in range(6)]
    relay = relay_through(lambda _request: answers.pop() if answers else None)
    add(database, "a", "b")
    connection = database.connect()
    outbox.cancel(connection, "LATER", "gone")
    connection.commit()
    connection.close()
    relay.once()
    assert waiting(database) == 3
    answers.clear()
    assert relay.once() == 3
    assert tasks_of(client, "a", "b") == ["a", "b"]
    assert client.tasks.get("LATER", "gone").live is None


def test_rows_whose_part_of_the_server_is_down_hold_up_no_others(database, relay_through, client, monkeypatch):
    monkeypatch.setattr(relaying, "PAGE", 5)
    down = httpx2.Response(503, json={"code": "SCH_503_SHARD_CLOSED", "detail": "moving"})
    relay = relay_through(lambda request: down if "/PUBLISH/" in request.url.path else None)
    add(database, *(f"k-{n}" for n in range(12)))
    add(database, "other", type_name="OTHER")
    assert relay.once() == 1
    assert tasks_of(client, "other") == ["other"]
    assert waiting(database) == 12


def test_what_was_said_later_about_a_key_waits_for_what_was_said_before(database, relay_through, monkeypatch):
    monkeypatch.setattr(relaying, "PAGE", 2)
    monkeypatch.setattr(relaying, "REST_S", 0.0)
    down = [httpx2.Response(503, json={"code": "SCH_503_UNAVAILABLE", "detail": "no"}) for _ in range(2)]
    relay = relay_through(lambda request: down.pop() if down and request.url.path.endswith("/k") else None)
    add(database, "k", "a", "b", "c", "k")
    assert relay.once() == 3
    assert waiting(database) == 2
    assert relay.once() == 2
