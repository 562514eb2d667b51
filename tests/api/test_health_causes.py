"""Health names what is wrong: a target that hangs within a minute, a cell, shards that nobody holds."""

from urllib.parse import urlsplit

import pytest

from horae.domain.health.causes import CauseKind
from horae.domain.targets.targets import HttpTarget
from horae.runtime.randomness import new_token
from horae.security.roles import Role
from horae.upkeep.signals import Signaller
from tests.catcher import catching
from tests.engine.running import running
from tests.steps import a_job, every, until

NAMED_WITHIN_S = 60
JOBS = 40


@pytest.fixture
async def catcher(store):
    async with catching(store.cells[0].clock.now) as catcher:
        yield catcher


async def causes(caller):
    told = (await caller.get("/scheduler/health")).json()
    assert (told["mode"] == "NORMAL") == (not told["causes"])
    return {one["kind"]: one for one in told["causes"]}


async def has_cause(caller, kind):
    return kind in await causes(caller)


@pytest.mark.parametrize(("timeout", "kind"), [(30, CauseKind.TARGET_SILENT), (2, CauseKind.TARGET_FAILING)])
async def test_a_target_that_accepts_and_never_answers_is_named_within_a_minute(
    admin, platform, client, other, ctx, store, catcher, timeout, kind
):
    """Forty jobs a second for a target that hangs, beside ten for one that is well."""
    stranger = await client(Role.VIEWER, of=other)
    catcher.answer = lambda arrival: None if arrival.path == "/hangs" else 200
    for n in range(JOBS):
        target = HttpTarget(f"{catcher.url}/hangs", read_timeout=timeout)
        await a_job(ctx, f"hangs{n}", every(ctx, 1, f"hangs{n}"), target=target)
    async with catching(store.cells[0].clock.now) as well, running(store):
        for n in range(10):
            await a_job(ctx, f"well{n}", every(ctx, 1, f"well{n}"), target=HttpTarget(well.url))
        await until(lambda: has_cause(admin, kind), NAMED_WITHIN_S)
        for caller in (admin, platform):
            named = (await causes(caller))[kind]
            assert named["target"] == urlsplit(catcher.url).netloc
            assert named["count"] > 0
            assert named["since"] is not None
        text = (await stranger.get("/scheduler/health")).text
        assert urlsplit(catcher.url).netloc not in text, "another tenant's target is not named"
        assert well.arrivals
        catcher.answer = lambda _arrival: 200
        catcher.release()
        await until(lambda: _is_over(admin), NAMED_WITHIN_S)


async def test_shards_that_nobody_holds_are_a_cause_until_a_node_comes(admin, store):
    found = await causes(admin)
    assert found[CauseKind.SHARDS_UNHELD]["count"] > 0
    async with running(store):
        await until(lambda: _all_held(admin))


async def test_failing_attempts_are_a_cause_of_their_own_tenant(admin, client, other, ctx, store, catcher):
    stranger = await client(Role.VIEWER, of=other)
    catcher.answer = lambda _arrival: 404
    await a_job(ctx, "fails", every(ctx, 1, "fails"), target=HttpTarget(catcher.url))
    async with running(store):
        await until(lambda: len(catcher.arrivals) >= 2)
        await until(lambda: _counts_failures(admin, store), 30)
        assert CauseKind.FAILING not in await causes(stranger)
        told = (await admin.get("/scheduler/health")).json()
    assert told["mode"] == "DEGRADED", "a red figure is never beside a green sentence"
    assert told["successRate10m"] < 0.995


async def _is_over(caller):
    return not {CauseKind.TARGET_SILENT, CauseKind.TARGET_FAILING} & set(await causes(caller))


async def _all_held(caller):
    return CauseKind.SHARDS_UNHELD not in await causes(caller)


async def _counts_failures(caller, store):
    await Signaller(store, new_token()).once()
    return CauseKind.FAILING in await causes(caller)
