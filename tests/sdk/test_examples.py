"""Every public function says what it promises and shows how; what it shows is run against a real server."""

import asyncio
import json
from typing import Any
from uuid import uuid4

import pytest

from horae.store.store import Store
from horae_client import AsyncClient, Client, Keyed
from horae_client.asked import workers
from horae_client.receive import Received, Receiver, sign
from tests.sdk import examples
from tests.sdk.databases import Make
from tests.sdk.served import Home, Served

PUBLIC = [told for told in examples.public() if told.examples]
NEEDS_AN_EXAMPLE = tuple(f"horae_client.{name}." for name in ("sync", "aio", "client", "worker", "outbox", "receive"))
PLUMBING = ("sync.verbs", "aio.verbs", ".list_", "client.settings", "client.parts", "connections", "__main__")


async def _furnish(home: Home, source: str) -> None:
    """What the examples speak of: a job, a type, and a dead letter."""
    async with AsyncClient(home.url, home.key) as client:
        if any(word in source for word in ("coupon", "forecast", "dead_letters")):
            await client.jobs.create("coupon_job", cron="0 */5 * * * ?")
        if "ARTICLE_PUBLISH" in source:
            await client.jobs.create("ARTICLE_PUBLISH", trigger=Keyed())
        if "dead_letters" in source:
            await client.jobs.trigger("coupon_job")
            taken = await client.ask(workers.poll("coupon_job", "w", 1, 0))
            one = {name: getattr(taken.items[0], name) for name in ("instance_id", "attempt", "token")}
            await client.ask(workers.fail([one | {"message": "no such coupon", "retryable": False}]))


async def _clear_platform(store: Store) -> None:
    """Remove incidents and measures: all examples share one platform."""
    for cell in store.cells:
        async with cell.tx() as tx:
            await tx.run("delete from incident")
            await tx.run("delete from measure")


def signed(receiver: Receiver, body: dict[str, Any]) -> Received:
    """A call as the server sends it."""
    sent = json.dumps({"idempotency_key": "key-1", **body}).encode()
    return Received({"Idempotency-Key": "key-1", **sign(receiver.secrets, "key-1", sent)}, sent)


@pytest.mark.parametrize("told", PUBLIC, ids=[told.name.removeprefix("horae_client.") for told in PUBLIC])
def test_an_example_does_what_it_shows(told: examples.Told, served: Served, databases: dict[str, Make]) -> None:
    loop = asyncio.new_event_loop()
    home = served.home()
    loop.run_until_complete(_furnish(home, "".join(one.source for one in told.examples)))
    names: dict[str, Any] = {"__name__": "example", "url": home.url, "key": home.key}
    if any("database" in one.source for one in told.examples):
        names["database"] = databases["postgresql"]().connect
    names["signed"] = signed
    waits = any("await " in one.source or "async " in one.source for one in told.examples)
    kind = AsyncClient if waits else Client
    clients = {"client": kind(home.url, home.key)}
    if any("platform" in one.source for one in told.examples):
        served.run(_clear_platform(served.store))
        clients["platform"] = kind(home.url, served.platform_key)
        names["new_name"] = lambda: f"t-{uuid4().hex[:12]}"
    try:
        examples.run(told, names | clients, loop)
    finally:
        for one in clients.values():
            closing = one.close()
            if closing is not None:
                loop.run_until_complete(closing)
        loop.close()


def test_everything_public_says_what_it_promises() -> None:
    assert [told.name for told in examples.public() if not (told.thing.__doc__ or "").strip()] == []


def test_every_verb_shows_how_it_is_used() -> None:
    silent = [
        told.name
        for told in examples.public()
        if callable(told.thing) and told.name.startswith(NEEDS_AN_EXAMPLE) and not told.examples
        if not isinstance(told.thing, type) and not any(part in told.name for part in PLUMBING)
    ]
    assert silent == []
