"""F21: what an API process remembers has one bound, whatever many tenants do or leave undone."""

from itertools import count
from uuid import UUID

import pytest

from horae.domain.jobs.jobs import Definition
from horae.domain.schedules.triggers import KeyedTrigger
from horae.domain.tenants.tenants import Allowance, Tenant
from horae.domain.workers.workers import ClaimedAttempt
from horae.repositories.definitions import Definitions
from horae.service.context import NOT_BOUND
from horae.service.identity.callers import Caller, Callers
from horae.service.jobs import jobs
from horae.service.tasks import types
from horae.service.workers import attempt_cache
from tests.bulk import bulk_jobs
from tests.domain.builders import NOW, an_instance
from tests.steps import NOWHERE

TENANTS, EACH, MOST = 30, 2_000, 50_000
NUMBERS = count(1)


class Named:
    """As much of a key as a context asks for."""

    principal = "key"
    job_labels = NOT_BOUND


@pytest.fixture
def lend(store):
    """The contexts that one process lends its tenants."""
    callers = Callers(store)
    return lambda tenant: callers.context(Caller(Named(), tenant, Allowance(), frozenset()))


def a_claim(ctx):
    """An attempt that was handed out to a worker."""
    ran = an_instance(tenant_id=ctx.tenant.id, id=UUID(int=next(NUMBERS)), attempt=1)
    facts = {"job": "j", "attempt": 1, "fire_time": NOW, "deadline": NOW, "claimed_at": NOW, "idempotency_key": "k"}
    return ClaimedAttempt(instance_id=ran.id, public_id=str(ran.id), token="t", **facts), ran, True


def recalled(ctx, claims):
    """How many of these are still remembered."""
    found = [ctx.handed.recall(ctx.tenant.id, one.public_id, 1, "t") for one, _, _ in claims]
    return sum(kept is not None for kept in found)


async def test_attempts_that_are_never_reported_fill_no_more_than_one_memory(lend):
    handed_out = []
    for number in range(TENANTS):
        ctx = lend(Tenant(UUID(int=number << 64), f"t{number}", 16))
        claims = [a_claim(ctx) for _ in range(EACH)]
        ctx.handed.keep(claims)
        handed_out.append((ctx, claims))
    kept = [recalled(ctx, claims) for ctx, claims in handed_out]
    assert 0 < sum(kept) <= MOST


async def test_a_tenant_with_many_unreported_attempts_does_not_drive_out_those_of_others(lend):
    busy, calm = (lend(Tenant(UUID(int=number << 64), f"t{number}", 16)) for number in (1, 2))
    few = [a_claim(calm) for _ in range(100)]
    calm.handed.keep(few)
    for _ in range(60):
        busy.handed.keep([a_claim(busy) for _ in range(1_000)])
    assert recalled(calm, few) == 100


async def test_an_attempt_is_forgotten_after_a_while(lend, monkeypatch):
    ticks = 1_000.0
    monkeypatch.setattr(attempt_cache, "boottime", lambda: ticks, raising=False)
    ctx = lend(Tenant(UUID(int=1 << 64), "t", 16))
    old, new = a_claim(ctx), a_claim(ctx)
    ctx.handed.keep([old])
    ticks += 3_600
    ctx.handed.keep([new])
    assert (recalled(ctx, [old]), recalled(ctx, [new])) == (0, 1)


async def test_what_nobody_came_for_is_let_go(lend, store, monkeypatch):
    ticks = 1_000.0
    monkeypatch.setattr(attempt_cache, "boottime", lambda: ticks)
    callers = Callers(store)
    ctx = callers.context(Caller(Named(), Tenant(UUID(int=1 << 64), "t", 16), Allowance(), frozenset()))
    ctx.handed.keep([a_claim(ctx)])
    assert len(callers.memory.handed) == 1
    ticks += 3_600
    await callers.once()
    assert len(callers.memory.handed) == 0


async def test_types_are_remembered_for_a_moment_only(ctx, monkeypatch):
    ticks = 1_000.0
    monkeypatch.setattr(types, "boottime", lambda: ticks)
    for number in range(5):
        await jobs.create(ctx, f"type-{number}", Definition(trigger=KeyedTrigger(), target=NOWHERE))
        await ctx.types.find(ctx.tenant, f"type-{number}")
        ticks += 10
    assert len(ctx.types._known) == 1


async def test_versions_of_jobs_are_bounded_in_bytes_and_told_to_their_tenant_only(ctx, store):
    from horae.repositories.definitions import KnownVersions

    now = store.cells[0].clock.now()
    payload = {"text": "x" * 1_000}
    await bulk_jobs(ctx, store, 20, Definition(trigger=KeyedTrigger(), target=NOWHERE, payload=payload), now, "big")
    wanted = [(job.shard, job.id, job.version) for job in await jobs.listing(ctx)]
    known = KnownVersions(most=1_000, most_bytes=10_000)
    for place in wanted:
        cell = store.cell(place[0])
        assert await Definitions(store.cipher, known, ctx.tenant.id).load_from(cell, [place])
    assert 0 < len(known) < 10
    assert known.bytes <= 10_000
    version, job = next(iter(known.items()))
    assert Definitions(store.cipher, known, ctx.tenant.id)._recall(version) is job
    assert Definitions(store.cipher, known, UUID(int=5))._recall(version) is None
