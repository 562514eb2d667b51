"""Whom we trust, and as whom we come."""

import asyncio
import subprocess
import sys
import threading

import pytest

from horae.delivery import tls
from horae.delivery.client import Client, ask
from horae.delivery.http import Failure, HttpAnswer, build_request, parse_url
from horae.delivery.push import Sender
from horae.delivery.secrets import secrets_in_memory
from horae.delivery.tls import Identity
from horae.domain.instances.outcomes import ErrorCode, Retryable, Success, Unrecoverable
from horae.domain.targets.auth import MtlsAuth
from horae.domain.targets.targets import HttpTarget
from tests.delivery.builders import TENANT, a_job, an_attempt
from tests.delivery.certificates import Authority
from tests.delivery.server import polite, serving
from tests.egress import ANYWHERE

HERE = "IP:127.0.0.1"


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("ours"), "ours")


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("theirs"), "theirs")


async def test_a_certificate_of_the_given_authority_is_trusted_and_the_connection_kept(client, ours):
    identity = Identity(authority=ours.pem)
    async with serving(polite, tls=ours.serves("good", HERE)) as server:
        for _ in range(3):
            assert (await ask(client, server.request(identity=identity))).status == 200
        assert server.visits == 1
        await client.close()


async def test_an_unknown_authority_and_a_wrong_name_are_not_trusted(client, ours, theirs):
    async with serving(polite, tls=ours.serves("good", HERE)) as good:
        for identity in (None, Identity(authority=theirs.pem)):
            failure = await ask(client, good.request(identity=identity))
            assert isinstance(failure, Failure)
            assert failure.code is ErrorCode.TLS
    async with serving(polite, tls=ours.serves("other", "DNS:other.example")) as wrong:
        failure = await ask(client, wrong.request(identity=Identity(authority=ours.pem)))
        assert isinstance(failure, Failure)
        assert failure.code is ErrorCode.TLS
    assert client.connections == 0


async def test_the_name_in_the_url_is_what_the_certificate_must_have(ours):
    async def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    client = Client(ANYWHERE, resolve=resolve)
    async with serving(polite, tls=ours.serves("named", "DNS:shop.example")) as server:
        for name, kind in (("shop.example", HttpAnswer), ("evil.example", Failure)):
            place = parse_url(server.url.replace("127.0.0.1", name), Identity(authority=ours.pem))
            assert isinstance(await ask(client, build_request("POST", place, {}, b"", 1, 1)), kind)
        await client.close()


async def test_a_server_that_speaks_no_tls_is_told_apart(client):
    async with serving(polite) as server:
        place = parse_url(server.url.replace("http:", "https:"))
        failure = await ask(client, build_request("POST", place, {}, b"", 0.3, 1))
        assert isinstance(failure, Failure)
        assert failure.code in {ErrorCode.TLS, ErrorCode.CONNECT}


async def test_a_target_may_want_to_see_our_certificate(client, ours, theirs):
    values = {"me": ours.issue("me", "DNS:horae"), "ca": ours.pem, "stranger": theirs.issue("me", "DNS:horae")}
    sender = Sender(client, secrets_in_memory({TENANT: values}))
    async with serving(polite, tls=ours.serves("wants", HERE, wants=ours)) as server:
        outcomes = {
            name: (await sender.deliver(an_attempt(), a_job(HttpTarget(server.url, auth=auth, ca="ca")))).outcome
            for name, auth in (("me", MtlsAuth("me")), ("stranger", MtlsAuth("stranger")), ("nobody", None))
        }
        assert outcomes.pop("me") == Success()
        for outcome in outcomes.values():
            assert isinstance(outcome, Retryable)
            assert outcome.code in {ErrorCode.TLS, ErrorCode.PROTOCOL}
        await client.close()


async def test_identities_do_not_share_connections(client, ours):
    first, second = Identity(authority=ours.pem), Identity(ours.issue("me", "DNS:horae"), ours.pem)
    async with serving(polite, tls=ours.serves("good", HERE)) as server:
        for identity in (first, second, first):
            assert (await ask(client, server.request(identity=identity))).status == 200
        assert server.visits == 2
        await client.close()


async def test_a_certificate_that_cannot_be_used_is_a_failure_of_trust(client, ours):
    sender = Sender(client, secrets_in_memory({TENANT: {"bad": "no PEM at all", "ca": ours.pem}}))
    async with serving(polite, tls=ours.serves("good", HERE)) as server:
        bad = await sender.deliver(an_attempt(), a_job(HttpTarget(server.url, auth=MtlsAuth("bad"), ca="ca")))
        assert isinstance(bad.outcome, Retryable)
        assert bad.outcome.code is ErrorCode.TLS
        missing = await sender.deliver(an_attempt(), a_job(HttpTarget(server.url, auth=MtlsAuth("none"), ca="ca")))
        assert missing.outcome == Unrecoverable(ErrorCode.NO_SECRET, "the tenant has no secret 'none'")
        assert server.visits == 0


def test_a_key_that_a_password_protects_is_refused_at_once_whoever_sits_at_the_terminal(ours):
    """F19: the library would ask at standard input, and everything would stand still until somebody answered."""
    script = "import sys, ssl; from horae.delivery.tls import Identity, context\n"
    script += "try: context(Identity(sys.argv[1]))\nexcept ssl.SSLError as error: print(error)"
    asked = subprocess.Popen(
        [sys.executable, "-c", script, ours.issue_locked("locked")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert "encrypted" in asked.communicate(timeout=60)[0]
    finally:
        asked.kill()


async def test_a_context_is_made_beside_the_loop_and_once(monkeypatch, ours):
    """Of the lesser findings: each one held up the loop for tens of milliseconds."""
    made, make = [], tls.context

    def watched(identity):
        made.append(threading.current_thread() is threading.main_thread())
        return make(identity)

    monkeypatch.setattr(tls, "context", watched)
    client = Client(ANYWHERE)
    async with serving(polite, tls=ours.serves("good", HERE)) as server:
        asked = [ask(client, server.request(identity=Identity(authority=ours.pem))) for _ in range(5)]
        assert {answer.status for answer in await asyncio.gather(*asked)} == {200}
        await client.close()
    assert made == [False]
