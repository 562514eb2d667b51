"""Every reader of answers hears every answer of the corpus: each call ends, and leaves nothing behind.

F1: one bad answer of a target, a token endpoint, a source, a webhook, an alert channel, a key engine or an issuer
stops nothing.
"""

import asyncio
import gc
from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import NamedTuple

import msgspec
import pytest

from horae.delivery import oidc, outlets, sources, transit
from horae.delivery.alert_channels import sender as alert_sender
from horae.delivery.alert_channels.sender import AlertSender
from horae.delivery.client import Client
from horae.delivery.oidc import Issuer, RelyingParty
from horae.delivery.outlets import Outlets
from horae.delivery.push import Delivery, Sender
from horae.delivery.secrets import secrets_in_memory
from horae.delivery.transit import Transit, TransitKek
from horae.delivery.waiting import wait_for_callback
from horae.domain.alerts.channels import AlertLanguage
from horae.domain.errors import ChannelRefused, HoraeError, Unavailable
from horae.domain.events.channels import ChannelOwner, Subscription, TopicAddress, WebhookAddress
from horae.domain.events.cloudevents import OutgoingEvent
from horae.domain.events.intakes import Intake, read
from horae.domain.jobs.jobs import Job
from horae.domain.sources.sources import HttpSource
from horae.domain.targets.auth import OAuthAuth
from horae.domain.targets.targets import HttpTarget
from horae.security import idtokens
from tests.delivery.alert_channels.messages import a_message
from tests.delivery.alert_channels.vendors import VENDORS, nothing_to_learn, secrets_for
from tests.delivery.builders import TENANT, a_job, an_attempt
from tests.delivery.corpus import BODIES, CORPUS
from tests.delivery.server import OK, Behaviour, Visit, answer, serving
from tests.egress import ANYWHERE

ANSWERS = list(CORPUS.values())
AT_ONCE = 40
TIMEOUT_S = 0.5
MANY_OBJECTS = 2000
ENDS_WITHIN_S = 20
KEY = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
SECRETS = secrets_in_memory({TENANT: {"client": "s", "sign": KEY}})


class Reader(NamedTuple):
    """Who hears the answers: one client, and what is made of it."""

    client: Client
    sender: Sender
    url: str


def answering(answer_of: Callable[[int], bytes]) -> Behaviour:
    """Answer `/n/…` with the answer of that number and close; `/good/n/…` as an issuer whose other doors are bad."""

    async def behave(visit: Visit) -> None:
        while request := await visit.heard():
            first, number, *_ = [*request.split(b" ", 2)[1].decode().split("/")[1:], "0"]
            if first == "fire":
                await visit.say(OK)
            elif first == "good":
                base = "http://" + request.split(b"Host: ")[1].split(b"\r\n")[0].decode()
                facts = {
                    "issuer": f"{base}/good/{number}",
                    "authorization_endpoint": f"{base}/a",
                    "token_endpoint": f"{base}/{number}/token",
                    "jwks_uri": f"{base}/{number}/keys",
                }
                await visit.say(answer(200, msgspec.json.encode(facts)))
            else:
                await visit.say(answer_of(int(first)))
                return

    return behave


@cache
def job_of(url: str, batch: int = 1, token_url: str | None = None) -> Job:
    """One job for each place, as a node has it: how a version is sent is remembered."""
    auth = None if token_url is None else OAuthAuth(token_url, "me", "client")
    return a_job(HttpTarget(url, batch=batch, auth=auth, connect_timeout=1, read_timeout=TIMEOUT_S))


async def one_call(reader: Reader, n: int) -> object:
    return await reader.sender.deliver(an_attempt(), job_of(f"{reader.url}/{n}/"))


async def three_calls(reader: Reader, n: int) -> object:
    job = job_of(f"{reader.url}/{n}/", 3)
    found = await wait_for_callback(lambda done: reader.sender.push_batch([an_attempt()] * 3, job, done))
    assert len(found) == 3
    return found


async def a_call_with_a_token(reader: Reader, n: int) -> object:
    job = job_of(f"{reader.url}/fire", 1, f"{reader.url}/{n}/")
    found = await asyncio.gather(*(reader.sender.deliver(an_attempt(), job) for _ in range(2)))
    assert all(isinstance(one, Delivery) for one in found)
    return found


async def a_page(reader: Reader, n: int) -> object:
    origin = HttpSource(f"{reader.url}/{n}/", page=20, connect_timeout=1, read_timeout=TIMEOUT_S)
    return await sources.page(reader.sender, a_job(HttpTarget(f"{reader.url}/")), origin, None)


async def a_webhook(reader: Reader, n: int) -> object:
    async def learn(*_names: object) -> None:
        pass

    told = OutgoingEvent(id="1", key="k", data=b"{}", type="x")
    wanted = Subscription(sink=WebhookAddress(f"{reader.url}/{n}/", "sign"))
    way = Outlets(SimpleNamespace(), reader.client, SECRETS, learn)
    return await way.send(SimpleNamespace(tenant_id=TENANT), wanted, ChannelOwner("acme", None), [told])


async def a_data_key(reader: Reader, n: int) -> object:
    kek = TransitKek(reader.client, Transit(f"{reader.url}/{n}", "horae", lambda: "t"))
    verbs = (kek.current(), kek.wrap(b"x"), kek.unwrap("vault:v1:x"), kek.rewrap("vault:v1:x"))
    found = await asyncio.gather(*verbs, return_exceptions=True)
    for one in found:
        if isinstance(one, Exception) and not isinstance(one, HoraeError):
            raise one
    return found


async def an_issuer(reader: Reader, n: int) -> object:
    return await Issuer(reader.client, RelyingParty(f"{reader.url}/{n}", "me", "s")).metadata()


async def keys_of_an_issuer(reader: Reader, n: int) -> object:
    keys = await Issuer(reader.client, RelyingParty(f"{reader.url}/good/{n}", "me", "s")).keys("k")
    return idtokens.key_for(idtokens.Header("RS256", "k"), keys)


async def a_code_for_a_token(reader: Reader, n: int) -> object:
    return await Issuer(reader.client, RelyingParty(f"{reader.url}/good/{n}", "me", "s")).exchange(
        "c", "v", "https://x/"
    )


async def alert_channels(reader: Reader, n: int) -> object:
    hook = f"{reader.url}/{n}/"
    sender = AlertSender(reader.client, secrets_in_memory({TENANT: secrets_for(hook, {})}), nothing_to_learn)
    ways = [sender.send(TENANT, None, vendor.channel(hook, AlertLanguage.EN), a_message()) for vendor in VENDORS]
    found = await asyncio.gather(*ways, return_exceptions=True)
    for one in found:
        if one is not None and not isinstance(one, Unavailable | ChannelRefused):
            raise one
    return found


READERS = (
    one_call,
    three_calls,
    a_call_with_a_token,
    a_page,
    a_webhook,
    a_data_key,
    an_issuer,
    keys_of_an_issuer,
    a_code_for_a_token,
    alert_channels,
)


async def hear_all(hear, reader: Reader) -> list[str]:
    """Every answer of the corpus; returns those that raised what their reader does not promise."""
    places, bad = asyncio.Semaphore(AT_ONCE), []

    async def hear_one(n: int, name: str) -> None:
        async with places:
            try:
                async with asyncio.timeout(ENDS_WITHIN_S):
                    await hear(reader, n)
            except HoraeError:
                pass
            except Exception as error:  # a timeout too: its end was never told
                bad.append(f"{name}: {error!r}")

    await asyncio.gather(*(hear_one(n, name) for n, name in enumerate(CORPUS)))
    return bad


def objects() -> int:
    gc.collect()
    return len(gc.get_objects())


@pytest.mark.parametrize("hear", READERS, ids=lambda hear: hear.__name__)
async def test_f1_a_reader_hears_every_answer_and_nothing_is_left_of_any(hear, monkeypatch):
    assert len(CORPUS) >= 200
    for module in (alert_sender, oidc, outlets, transit):
        monkeypatch.setattr(module, "READ_TIMEOUT_S", TIMEOUT_S)
    async with serving(answering(ANSWERS.__getitem__)) as server:
        before = asyncio.all_tasks()
        client = Client(ANYWHERE)
        reader = Reader(client, Sender(client, SECRETS), server.url)
        assert not await hear_all(hear, reader)
        await client.close()
        held = objects()
        assert not await hear_all(hear, reader)
        await client.close()
        await server.until(lambda server: server.open == 0)
        assert (client.connections, client._opening, client._idle, reader.sender._tokens._waiting) == (0, set(), {}, {})
        assert {task for task in asyncio.all_tasks() - before if not task.done()} == set()
        assert objects() - held < MANY_OBJECTS


@pytest.mark.parametrize("name", BODIES)
def test_a_message_of_a_broker_is_a_change_or_a_refusal(name):
    with pytest.raises(HoraeError):
        read(BODIES[name], Intake(source=TopicAddress("b", "t")))


@pytest.mark.parametrize("name", BODIES)
def test_an_id_token_is_refused_whatever_its_parts_hold(name):
    part = idtokens.urlsafe_b64encode(BODIES[name][:9000]).rstrip(b"=").decode()
    with pytest.raises(idtokens.TokenRefused):
        idtokens.header_of(f"{part}.{part}.{part}", idtokens.ALGORITHMS)
