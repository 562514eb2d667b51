"""Of the lesser findings: a secret that is bound to hosts is sent to no other, whoever writes the job."""

import pytest

from horae.delivery.client import Client
from horae.delivery.outlets import Outlets
from horae.delivery.push import Sender
from horae.delivery.secrets import NamedSecrets
from horae.domain.encryption.secrets import MAX_HOSTS, check_hosts, is_bound_to
from horae.domain.errors import Invalid, Unavailable
from horae.domain.events.channels import ChannelOwner, Subscription, WebhookAddress
from horae.domain.events.cloudevents import OutgoingEvent
from horae.domain.instances.outcomes import ErrorCode, Success, Unrecoverable
from horae.domain.targets.auth import BasicAuth, BearerAuth, MtlsAuth, OAuthAuth
from horae.domain.targets.targets import HttpTarget
from tests.delivery.builders import TENANT, a_job, an_attempt
from tests.delivery.server import answer, serving
from tests.egress import ANYWHERE

KEY = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
VALUES = {TENANT: {"s": KEY}}


def bound(*hosts):
    return NamedSecrets(VALUES, {TENANT: {"s": hosts}})


async def token_or_ok(visit):
    while await visit.heard():
        await visit.say(answer(200, b'{"access_token": "t"}'))


def ways(url, token_url):
    return {
        "bearer": HttpTarget(url, auth=BearerAuth("s")),
        "basic": HttpTarget(url, auth=BasicAuth("me", "s")),
        "mtls": HttpTarget(url, auth=MtlsAuth("s")),
        "a token of its own endpoint": HttpTarget(url, auth=OAuthAuth(token_url, "me", "s")),
        "signing": HttpTarget(url, signing="s"),
    }


@pytest.mark.parametrize("way", ways("http://x/", "http://x/"))
async def test_a_secret_is_sent_to_no_other_host_than_its_own(way):
    async with serving(token_or_ok) as server:
        client = Client(ANYWHERE)
        target = ways(f"{server.url}/", f"{server.url}/token")[way]
        found = await Sender(client, bound("api.example.com", "*.example.org")).deliver(an_attempt(), a_job(target))
        assert isinstance(found.outcome, Unrecoverable)
        assert found.outcome.code is ErrorCode.REFUSED
        assert "may not be sent to 127.0.0.1" in found.outcome.message
        assert KEY not in found.outcome.message
        assert server.visits == 0
        if way != "mtls":
            own = await Sender(client, bound("127.0.0.1")).deliver(an_attempt(), a_job(target))
            assert isinstance(own.outcome, Success)
        await client.close()


@pytest.mark.parametrize(("url", "token_url"), [("127.0.0.1", "localhost"), ("localhost", "127.0.0.1")])
async def test_neither_a_client_secret_nor_what_it_buys_leaves_its_hosts(url, token_url):
    async with serving(token_or_ok) as server:
        client = Client(ANYWHERE)
        port = server.url.rpartition(":")[2]
        auth = OAuthAuth(f"http://{token_url}:{port}/token", "me", "s")
        job = a_job(HttpTarget(f"http://{url}:{port}/", auth=auth))
        found = await Sender(client, bound("127.0.0.1")).deliver(an_attempt(), job)
        assert found.outcome.code is ErrorCode.REFUSED
        both = await Sender(client, bound("127.0.0.1", "localhost")).deliver(an_attempt(), job)
        assert isinstance(both.outcome, Success)
        await client.close()


async def test_a_webhook_is_signed_for_the_hosts_of_its_secret_alone():
    async def learn(*_names):
        pass

    class Channel:
        tenant_id = TENANT

    async with serving(token_or_ok) as server:
        client = Client(ANYWHERE)
        wanted = Subscription(sink=WebhookAddress(f"{server.url}/", "s"))
        batch = [OutgoingEvent(id="1", type="x", key="k", data=b"{}")]
        with pytest.raises(Unavailable, match="may not be sent"):
            await Outlets(None, client, bound("example.com"), learn).send(
                Channel, wanted, ChannelOwner("acme", None), batch
            )
        await Outlets(None, client, bound("127.0.0.1"), learn).send(Channel, wanted, ChannelOwner("acme", None), batch)
        await client.close()


def test_a_wildcard_is_every_name_below_and_not_the_name_itself():
    hosts = check_hosts(["*.Example.com", "api.other.net", "10.0.0.1", "::1"])
    assert hosts == ("*.example.com", "10.0.0.1", "::1", "api.other.net")
    assert check_hosts(["0:0::0001", "::1"]) == ("::1",)
    for host in ("a.example.com", "A.B.EXAMPLE.COM", "api.other.net", "api.other.net.", "10.0.0.1", "::1"):
        assert is_bound_to(hosts, host)
    for host in ("example.com", "evilexample.com", ".example.com", "other.net", "x.api.other.net", "10.0.0.11", ""):
        assert not is_bound_to(hosts, host)
    assert is_bound_to((), "anything")


NO_HOSTS = ("*", "*.", "", "a b", "http://x", "x/y", "x:80", "a:80", "*.*.com", "a.*.com", "é.com", "[::1]", ":::")


@pytest.mark.parametrize("host", NO_HOSTS)
def test_what_no_host_is_called_is_refused(host):
    with pytest.raises(Invalid):
        check_hosts([host])
    with pytest.raises(Invalid):
        check_hosts([f"h{n}.example.com" for n in range(MAX_HOSTS + 1)])
