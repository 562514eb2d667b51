"""S-12: a tenant has so many requests under way and no more, and no other tenant notices. The gate alone, on paper."""

from contextlib import AsyncExitStack
from types import SimpleNamespace
from uuid import UUID

import pytest
from starlette.requests import Request

from horae.api.gate import Gate
from horae.domain.errors import RateLimited
from horae.domain.limits.limits import Limit
from horae.domain.tenants.tenants import Allowance

GREEDY, CALM = UUID(int=1), UUID(int=2)
BOUNDED = Allowance(requests=Limit(concurrency=2))


class KnownCallers(Gate):
    """A gate that takes the tenant from the path, as if a credential had named it."""

    def __init__(self, usual: Limit) -> None:
        callers = SimpleNamespace(context=lambda _caller: None)
        super().__init__(callers, None, None, None, usual)  # type: ignore[arg-type]

    async def _caller_of(self, request):
        tenant, allowance = request.scope["who"]
        return SimpleNamespace(tenant=SimpleNamespace(id=tenant), allowance=allowance, may=lambda _action: True)


def a_request(tenant, allowance=BOUNDED):
    return Request({"type": "http", "headers": [], "query_string": b"", "raw_path": b"/", "who": (tenant, allowance)})


async def test_one_more_than_a_tenant_may_have_under_way_is_told_to_come_back_and_another_tenant_passes():
    gate = KnownCallers(Limit(rate=1e9, concurrency=100))
    async with AsyncExitStack() as under_way:
        for _ in range(2):
            await under_way.enter_async_context(gate.admit(a_request(GREEDY), "jobs.list"))
        for _ in range(50):
            with pytest.raises(RateLimited) as refused:
                await under_way.enter_async_context(gate.admit(a_request(GREEDY), "jobs.list"))
            assert refused.value.retry_after >= 1
        for _ in range(2):
            await under_way.enter_async_context(gate.admit(a_request(CALM), "jobs.list"))
    async with gate.admit(a_request(GREEDY), "jobs.list"):
        pass
    assert not gate._inside


async def test_the_deployments_own_bound_holds_where_a_tenant_has_none():
    gate = KnownCallers(Limit(rate=1e9, concurrency=3))
    async with AsyncExitStack() as under_way:
        for _ in range(3):
            await under_way.enter_async_context(gate.admit(a_request(GREEDY, Allowance()), "jobs.list"))
        with pytest.raises(RateLimited):
            await under_way.enter_async_context(gate.admit(a_request(GREEDY, Allowance()), "jobs.list"))
        await under_way.enter_async_context(gate.admit(a_request(CALM, Allowance()), "jobs.list"))
