"""`horae tenant allow` changes what its options name, and nothing else."""

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from horae.boot.commands import tenants as command
from horae.domain.limits.counts import CountBounds
from horae.domain.limits.limits import Limit
from horae.domain.targets.egress import Egress
from horae.domain.tenants.tenants import Allowance
from horae.service.context import PlatformContext
from horae.service.tenants import tenants
from horae.store.store import Store
from horae_client import Client
from horae_client.errors import Conflict

GIVEN = Allowance(
    weight=1,
    limit=Limit(rate=50, burst=5),
    quotas={"mail": Limit(rate=5)},
    retries=Limit(rate=1, burst=2),
    egress=Egress(networks=("10.20.0.0/16",), ports=("8443",)),
    requests=Limit(rate=7, burst=7),
    counts=CountBounds(jobs=10_000, sources=3),
)


async def give(cells: Any) -> None:
    async with Store.of(cells) as store:
        await tenants.allow(PlatformContext(store, "test"), "default", GIVEN)


async def read(cells: Any) -> Allowance:
    async with Store.of(cells) as store:
        return (await tenants.read(PlatformContext(store, "test"), "default"))[1]


def test_only_what_an_option_names_is_changed(horae, cells):
    horae("migrate")
    asyncio.run(give(cells))
    told = horae.json("tenant", "allow", "default", "--weight", "2", tenant="system")
    expected = replace(GIVEN, weight=2)
    assert asyncio.run(read(cells)) == expected
    assert told["allowance"]["egress"]["networks"] == ["10.20.0.0/16"]
    horae.platform("tenant", "allow", "default", "--concurrency", "3", "--sources", "4")
    expected = replace(expected, limit=Limit(rate=50, burst=5, concurrency=3), counts=replace(GIVEN.counts, sources=4))
    assert asyncio.run(read(cells)) == expected
    assert "10.20.0.0/16" in horae.platform("tenant", "allow", "default")
    assert asyncio.run(read(cells)) == expected
    horae.platform("tenant", "allow", "default", "--rate", "0", "--concurrency", "0")
    assert asyncio.run(read(cells)) == replace(expected, limit=None)


def test_two_people_who_change_it_at_the_same_time_overwrite_nothing(horae, api, cells, monkeypatch):
    horae("migrate")
    real, others = command._changed, [{"limit": {"rate": 7}}]

    def slow(before: Any, *options: Any) -> Any:
        if others:  # somebody else writes after this command has read
            with Client(api.url, api.key("system")) as client:
                client.tenants.set_allowance("default", others.pop())
        return real(before, *options)

    monkeypatch.setattr(command, "_changed", slow)
    horae.platform("tenant", "allow", "default", "--weight", "5")
    expected = replace(Allowance(), weight=5, limit=Limit(rate=7))
    assert asyncio.run(read(cells)) == expected
    with Client(api.url, api.key("system")) as client:
        known = client.tenants.get("default").allowance
        for _ in range(2):  # the same request again succeeds again
            client.tenants.set_allowance("default", {"weight": 6}, replaces=known)
        with pytest.raises(Conflict, match="read it again"):
            client.tenants.set_allowance("default", {"weight": 7}, replaces=known)
    assert asyncio.run(read(cells)) == Allowance(weight=6)
