"""Who we are: by named secrets, looked up at every attempt."""

import asyncio
from base64 import b64encode
from types import SimpleNamespace
from uuid import UUID

import msgspec
import pytest

from horae.delivery.push import Sender
from horae.delivery.secrets import secrets_in_memory
from horae.domain.instances.outcomes import ErrorCode, Retryable, Success, Unrecoverable
from horae.domain.targets.auth import BasicAuth, BearerAuth, OAuthAuth
from horae.domain.targets.targets import HttpTarget
from tests.delivery.builders import TENANT, a_job, an_attempt
from tests.delivery.server import Received, answer, serving

SECRETS = {"key": "s3cret", "split": "a\r\nX-Admin: yes", "client": "c:1/2"}


@pytest.fixture
async def sender(client):
    return Sender(client, secrets_in_memory({TENANT: SECRETS}))


@pytest.fixture
async def issuer(client):
    """A token endpoint: what it heard, and its address as `url`."""
    received = Received()
    async with serving(received.behave) as server:
        received.url = server.url
        yield received
        await client.close()


def token(value: str, **facts: object) -> bytes:
    return answer(200, msgspec.json.encode({"access_token": value, "token_type": "Bearer", **facts}))


async def test_bearer_and_basic_are_filled_from_named_secrets(sender, server, received):
    for auth in (BearerAuth("key"), BasicAuth("horae", "key")):
        assert (await sender.deliver(an_attempt(), a_job(HttpTarget(server.url, auth=auth)))).outcome == Success()
    pair = b64encode(b"horae:s3cret").decode()
    assert [h["authorization"] for h in received.headers] == ["Bearer s3cret", f"Basic {pair}"]


async def test_a_missing_secret_is_final_and_names_itself_only(sender, server, received):
    done = await sender.deliver(an_attempt(), a_job(HttpTarget(server.url, auth=BearerAuth("gone"))))
    assert done.outcome == Unrecoverable(ErrorCode.NO_SECRET, "the tenant has no secret 'gone'")
    assert received.lines == []


async def test_another_tenants_secrets_are_not_ours(client, server, received):
    sender = Sender(client, secrets_in_memory({UUID(int=9): SECRETS}))
    done = await sender.deliver(an_attempt(), a_job(HttpTarget(server.url, auth=BearerAuth("key"))))
    assert isinstance(done.outcome, Unrecoverable)
    assert received.lines == []


async def test_a_secret_cannot_write_headers(sender, server, received):
    done = await sender.deliver(an_attempt(), a_job(HttpTarget(server.url, auth=BearerAuth("split"))))
    assert isinstance(done.outcome, Unrecoverable)
    assert "Admin" not in done.outcome.message
    assert received.lines == []


async def test_a_token_is_fetched_once_for_all_who_wait_and_used_again(sender, server, received, issuer):
    issuer.answers = [token("t1", expires_in=3600)]
    job = a_job(HttpTarget(server.url, auth=OAuthAuth(f"{issuer.url}/token", "me@x", "client", scope="fire all")))
    await asyncio.gather(*(sender.deliver(an_attempt(), job) for _ in range(10)))
    await sender.deliver(an_attempt(), job)
    assert {h["authorization"] for h in received.headers} == {"Bearer t1"}
    assert len(received.headers) == 11
    assert issuer.lines == ["POST /token HTTP/1.1"]
    assert issuer.bodies == [b"grant_type=client_credentials&scope=fire+all"]
    assert issuer.headers[0]["authorization"] == f"Basic {b64encode(b'me%40x:c%3A1%2F2').decode()}"


async def test_an_expired_token_is_fetched_anew(sender, server, received, issuer):
    issuer.answers = [token("t1", expires_in=0), token("t2", expires_in="3600")]
    job = a_job(HttpTarget(server.url, auth=OAuthAuth(issuer.url, "me", "client")))
    for _ in range(3):
        await sender.deliver(an_attempt(), job)
    assert [h["authorization"] for h in received.headers] == ["Bearer t1", "Bearer t2", "Bearer t2"]


async def test_a_401_drops_a_used_token_and_is_retried_but_a_fresh_one_that_fails_is_final(
    sender, server, received, issuer
):
    issuer.answers = [token("t1"), token("t2")]
    received.answers = [answer(200), answer(401), answer(401)]
    job = a_job(HttpTarget(server.url, auth=OAuthAuth(issuer.url, "me", "client")))
    outcomes = [(await sender.deliver(an_attempt(), job)).outcome for _ in range(3)]
    assert [h["authorization"] for h in received.headers] == ["Bearer t1", "Bearer t1", "Bearer t2"]
    assert outcomes[0] == Success()
    assert outcomes[1] == Retryable(ErrorCode.HTTP_4XX, "answered 401; its token is fetched anew")
    assert outcomes[2] == Unrecoverable(ErrorCode.HTTP_4XX, "answered 401")


@pytest.mark.parametrize(
    ("said", "kind", "code"),
    [
        (answer(503), Retryable, ErrorCode.HTTP_5XX),
        (answer(400), Unrecoverable, ErrorCode.HTTP_4XX),
        (answer(200, b"welcome"), Retryable, ErrorCode.PROTOCOL),
        (answer(200, b'{"access_token": 7}'), Retryable, ErrorCode.PROTOCOL),
        (token("a\r\nX-Admin: yes"), Retryable, ErrorCode.PROTOCOL),
        (b"rubbish\r\n\r\n", Retryable, ErrorCode.PROTOCOL),
    ],
)
async def test_without_a_token_nothing_is_sent(sender, server, received, issuer, said, kind, code):
    issuer.answers = [said]
    job = a_job(HttpTarget(server.url, auth=OAuthAuth(issuer.url, "me", "client")))
    done = await sender.deliver(an_attempt(), job)
    assert isinstance(done.outcome, kind)
    assert done.outcome.code is code
    assert received.lines == []


@pytest.mark.parametrize("unusable", ["", "Bearer abc", "abc\n"])
async def test_an_unusable_token_fails_one_call_and_is_not_kept(sender, server, received, issuer, unusable):
    issuer.answers = [token(unusable, expires_in=86_400), token("good", expires_in=86_400)]
    job = a_job(HttpTarget(server.url, auth=OAuthAuth(issuer.url, "me", "client")))
    assert isinstance((await sender.deliver(an_attempt(), job)).outcome, Retryable)
    assert (await sender.deliver(an_attempt(), job)).outcome == Success()
    assert [h["authorization"] for h in received.headers] == ["Bearer good"]


async def test_who_waited_for_a_token_longer_than_its_own_timeouts_is_not_sent(sender, server, received, monkeypatch):
    """Its slot is over by then: the attempt is somebody else's, and would leave twice."""
    go_on, now = asyncio.Event(), [0.0]

    async def slowly(visit):
        await visit.heard()
        await go_on.wait()
        await visit.say(token("t1"))

    monkeypatch.setattr(sender._tokens, "_loop", SimpleNamespace(time=lambda: now[0]))
    async with serving(slowly) as slow:
        auth = OAuthAuth(slow.url, "me", "client")
        patient = a_job(HttpTarget(server.url, auth=auth, connect_timeout=30, read_timeout=30))
        hasty = a_job(HttpTarget(server.url, auth=auth, connect_timeout=1, read_timeout=1))
        both = [asyncio.create_task(sender.deliver(an_attempt(), job)) for job in (patient, hasty)]
        await slow.until(lambda server: server.visits == 1)
        now[0] = 50.0
        go_on.set()
        first, second = await asyncio.gather(*both)
    assert (first.outcome, len(received.lines)) == (Success(), 1)
    assert isinstance(second.outcome, Retryable)
    assert second.outcome.code is ErrorCode.TIMEOUT
