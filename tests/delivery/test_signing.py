"""Signatures, checked by the official verifier and by the published vector."""

from base64 import b64encode

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from horae.delivery.push import Sender
from horae.delivery.secrets import secrets_in_memory
from horae.delivery.signing import keys_of, sign
from horae.domain.instances.outcomes import ErrorCode, Success, Unrecoverable
from horae.domain.targets.targets import HttpTarget
from tests.delivery.builders import TENANT, a_job, an_attempt

PUBLISHED = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OLD, NEW = ("whsec_" + b64encode(bytes([n]) * 32).decode() for n in (1, 2))


def test_the_published_vector():
    signature = sign(keys_of(PUBLISHED), "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    assert signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


async def test_the_official_verifier_accepts_what_we_send_and_nothing_else(client, server, received):
    sender = Sender(client, secrets_in_memory({TENANT: {"hook": NEW}}))
    done = await sender.deliver(an_attempt(payload={"ü": 1}), a_job(HttpTarget(server.url, signing="hook")))
    assert done.outcome == Success()
    [headers], [body] = received.headers, received.bodies
    assert Webhook(NEW).verify(body, headers)["job"] == "report"
    earlier = str(int(headers["webhook-timestamp"]) - 1)
    for name, value in (("webhook-id", "job:t:43:1"), ("webhook-timestamp", earlier)):
        with pytest.raises(WebhookVerificationError):
            Webhook(NEW).verify(body, headers | {name: value})
    with pytest.raises(WebhookVerificationError):
        Webhook(NEW).verify(body.replace(b"report", b"rapport"), headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(OLD).verify(body, headers)


async def test_the_id_is_the_same_for_every_attempt_and_the_time_is_not(client, server, received):
    times = iter([1000.5, 2000.5])
    sender = Sender(client, secrets_in_memory({TENANT: {"hook": NEW}}), wall=lambda: next(times))
    job = a_job(HttpTarget(server.url, signing="hook"))
    for attempt in (1, 2):
        await sender.deliver(an_attempt(attempt), job)
    assert [headers["webhook-id"] for headers in received.headers] == ["job:t:42:1"] * 2
    assert [headers["webhook-timestamp"] for headers in received.headers] == ["1000", "2000"]


async def test_while_a_secret_is_rotated_old_and_new_verify_and_no_delivery_fails(client, server, received):
    values = {"hook": OLD}
    sender = Sender(client, secrets_in_memory({TENANT: values}))
    job = a_job(HttpTarget(server.url, signing="hook"))
    for value, accepted in ((OLD, {OLD}), (f"{OLD} {NEW}", {OLD, NEW}), (NEW, {NEW})):
        values["hook"] = value
        for _ in range(20):
            assert (await sender.deliver(an_attempt(), job)).outcome == Success()
        for secret in accepted:
            Webhook(secret).verify(received.bodies[-1], received.headers[-1])


@pytest.mark.parametrize(
    "value",
    ["", "hunter2", "whsec_short", "whsec_" + "A" * 30, "whsec_!!!" + "A" * 40, f"{NEW} x", "whsec_" + "A" * 100],
)
async def test_a_secret_that_cannot_sign_is_told_without_its_value(client, server, received, value):
    sender = Sender(client, secrets_in_memory({TENANT: {"hook": value}}))
    done = await sender.deliver(an_attempt(), a_job(HttpTarget(server.url, signing="hook")))
    assert isinstance(done.outcome, Unrecoverable)
    assert done.outcome.code is ErrorCode.NO_SECRET
    assert not value or value not in done.outcome.message
    assert received.lines == []
