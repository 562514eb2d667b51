"""A test request: the target is called, secrets stay hidden, and nobody's screen is steered."""

import msgspec

from horae.delivery.push import Sender
from horae.delivery.secrets import secrets_in_memory
from horae.domain.instances.outcomes import ErrorCode, Success, Unrecoverable
from horae.domain.targets.auth import BasicAuth, BearerAuth
from horae.domain.targets.targets import HttpTarget
from horae.service.targets.targets import try_target
from tests.delivery.builders import TENANT, a_job
from tests.delivery.server import answer
from tests.domain.builders import NOW

SECRETS = {"key": "s3cret", "hook": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}


async def test_it_says_that_it_is_a_test_and_has_a_key_of_its_own(sender, server, received):
    tried = await try_target(sender, a_job(HttpTarget(server.url), payload={"a": 1}), NOW, {"b": 2})
    assert (tried.outcome, tried.status, tried.answer) == (Success(), 200, "ok")
    [headers], [body] = received.headers, received.bodies
    assert headers["horae-test"] == "true"
    assert headers["idempotency-key"].startswith("test:")
    assert "horae-completion-token" not in headers
    assert msgspec.json.decode(body)["payload"] == {"b": 2}
    assert tried.sent is not None
    assert tried.sent.endswith(body.decode())


async def test_a_batch_target_is_tried_with_a_batch_of_one(sender, server, received):
    tried = await try_target(sender, a_job(HttpTarget(server.url, batch=5)), NOW)
    assert tried.outcome == Success()
    assert received.headers[0]["horae-test"] == "true"
    [call] = msgspec.json.decode(received.bodies[0])["batch"]
    assert call["idempotency_key"].startswith("test:")


async def test_what_proves_who_we_are_is_sent_and_not_shown(client, server, received):
    sender = Sender(client, secrets_in_memory({TENANT: SECRETS}))
    for auth in (BearerAuth("key"), BasicAuth("horae", "key")):
        tried = await try_target(sender, a_job(HttpTarget(server.url, auth=auth, signing="hook")), NOW)
        proof = received.headers[-1]["authorization"].split()[1]
        assert tried.sent is not None
        assert "***" in tried.sent
        assert proof not in tried.sent
        assert SECRETS["hook"] not in tried.sent


async def test_what_comes_back_is_small_and_cannot_steer_a_terminal(sender, server, received):
    received.answers = [answer(404, b"\x1b[2Jgone" + b"x" * 5000, x_long="y" * 5000)]
    tried = await try_target(sender, a_job(HttpTarget(server.url)), NOW)
    assert tried.outcome == Unrecoverable(ErrorCode.HTTP_4XX, "answered 404")
    assert tried.answer is not None
    assert tried.answer.startswith("\N{REPLACEMENT CHARACTER}[2Jgone")
    assert len(tried.answer) <= 2048
    assert tried.headers["x-long"] == "y" * 200


async def test_a_request_that_cannot_be_made_says_why(sender, server):
    tried = await try_target(sender, a_job(HttpTarget(server.url, auth=BearerAuth("gone"))), NOW)
    assert (tried.sent, tried.status) == (None, None)
    assert tried.outcome == Unrecoverable(ErrorCode.NO_SECRET, "the tenant has no secret 'gone'")
