"""F12: a tenant whose name servers are dead makes nobody else wait, and what never got its turn is no attempt."""

import asyncio
import os
import socket
import threading
from uuid import UUID

import pytest
from msgspec.structs import replace

from horae.delivery.client import Client
from horae.delivery.push import Sender
from horae.domain.instances.outcomes import FailedProbe, Retryable, Success
from horae.domain.targets.targets import HttpTarget
from tests.delivery.builders import a_job, an_attempt
from tests.delivery.server import polite, serving
from tests.egress import ANYWHERE

EVIL, GOOD = UUID(int=66), UUID(int=77)
NAMES = 150
getaddrinfo = socket.getaddrinfo


@pytest.fixture
def hanging(monkeypatch):
    """The system's resolver, which never hears of names below .evil while the test lasts."""
    over, asked = threading.Event(), []

    def look(host, *args, **facts):
        asked.append(host)
        if str(host).endswith(".evil"):
            over.wait(60)
            raise socket.gaierror(socket.EAI_AGAIN, "no answer")
        return getaddrinfo(host, *args, **facts)

    monkeypatch.setattr(socket, "getaddrinfo", look)
    yield asked
    over.set()


def job_of(tenant, url, **facts):
    return replace(a_job(HttpTarget(url, **facts)), tenant_id=tenant)


async def test_f12_a_tenant_whose_names_hang_makes_no_other_wait(hanging):
    async with serving(polite) as server:
        client = Client(ANYWHERE)
        sender = Sender(client)
        bad = [
            asyncio.create_task(sender.deliver(an_attempt(), job_of(EVIL, f"http://n{n}.evil/", connect_timeout=2)))
            for n in range(NAMES)
        ]
        await asyncio.sleep(0)
        url = server.url.replace("127.0.0.1", "localhost")
        found = await sender.deliver(an_attempt(), job_of(GOOD, f"{url}/", connect_timeout=2))
        outcomes = [one.outcome for one in await asyncio.gather(*bad)]
        await client.close()
    assert isinstance(found.outcome, Success)
    assert any(isinstance(one, Retryable) for one in outcomes)  # those whose name server was asked
    assert sum(isinstance(one, FailedProbe) for one in outcomes) > NAMES / 2  # the others cost their jobs nothing


async def test_a_name_that_is_not_known_is_asked_for_once_in_a_few_seconds():
    asked = []

    async def resolve(host, port):
        asked.append(host)
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    client = Client(ANYWHERE, resolve=resolve)
    sender = Sender(client)
    found = [await sender.deliver(an_attempt(), job_of(EVIL, "http://nowhere.test/")) for _ in range(3)]
    await client.close()
    assert asked == ["nowhere.test"]
    assert all("not known" in one.outcome.message for one in found)


async def test_a_name_that_one_tenant_waits_for_is_found_for_another(hanging):
    """Both call the same host; the one whose other names hang has no place left to ask for it."""
    async with serving(polite) as server:
        client = Client(ANYWHERE)
        sender = Sender(client)
        url = server.url.replace("127.0.0.1", "localhost")
        bad = [
            asyncio.create_task(sender.deliver(an_attempt(), job_of(EVIL, one, connect_timeout=1)))
            for one in [*(f"http://n{n}.evil/" for n in range(10)), f"{url}/"]
        ]
        await asyncio.sleep(0)
        found = await sender.deliver(an_attempt(), job_of(GOOD, f"{url}/", connect_timeout=5))
        await asyncio.gather(*bad)
        await client.close()
    assert isinstance(found.outcome, Success)


def test_the_system_is_told_to_give_up_soon_unless_the_deployment_says_otherwise(monkeypatch):
    from horae.delivery.names import RESOLVER_OPTIONS, shorten_lookups

    monkeypatch.delenv("RES_OPTIONS", raising=False)
    shorten_lookups()
    assert os.environ["RES_OPTIONS"] == RESOLVER_OPTIONS
    monkeypatch.setenv("RES_OPTIONS", "timeout:7")
    shorten_lookups()
    assert os.environ["RES_OPTIONS"] == "timeout:7"
