"""F3: a limit that cannot be kept for one target does not stop the limits of everybody else in its cell."""

from datetime import timedelta

import pytest

from horae.domain.limits import limits
from horae.domain.limits.limits import MAX_KEY_CHARACTERS, Key, Limit, key_name
from horae.domain.schedules.triggers import IntervalTrigger
from horae.domain.targets.targets import HttpTarget
from horae.domain.tenants.tenants import Allowance
from horae.service.context import Context, PlatformContext
from horae.service.tenants import tenants
from horae.upkeep.copies import Copier
from tests.engine.running import running
from tests.steps import a_job, until

NEIGHBOURS = 6


def test_long_names_are_cut_and_stay_different():
    names = {key_name("target", "x" * 2000 + str(n)) for n in range(100)} | {key_name("target", "x")}
    assert len(names) == 101
    assert max(map(len, names)) == MAX_KEY_CHARACTERS


@pytest.mark.parametrize("cut", [True, False], ids=["a long name", "a name that the database refuses"])
async def test_one_targets_limit_leaves_other_tenants_limits_alone(ctx, store, catcher, monkeypatch, cut):
    if not cut:
        monkeypatch.setattr(limits, "MAX_KEY_CHARACTERS", 10_000)
    start = store.cells[0].clock.now().replace(microsecond=0) + timedelta(seconds=1)
    long = f"{catcher.url}/{'x' * 1900}"
    await a_job(ctx, "long", IntervalTrigger(1, start), target=HttpTarget(long, rate=5))
    home, homes = store.cell(Key(ctx.tenant.id, key_name("target", long)).shard), set()
    for n in range(NEIGHBOURS):
        tenant = await tenants.create(PlatformContext(store, "test"), f"other-{n}", width=64)
        await tenants.allow(PlatformContext(store, "test"), tenant.name, Allowance(limit=Limit(rate=50)))
        homes.add(store.cell(Key(tenant.id, "tenant").shard).name)
        target = HttpTarget(f"{catcher.url}/{n}")
        await a_job(Context.of(store, tenant, "test"), "steady", IntervalTrigger(1, start), target=target)
    assert home.name in homes
    await Copier(store).once()

    async with running(store):
        await until(lambda: all(len(catcher.of(f"/{n}")) >= 6 for n in range(NEIGHBOURS)), 60)
        if cut:
            await until(lambda: len(catcher.of(long.removeprefix(catcher.url))) >= 2)
    assert cut == bool(catcher.of(long.removeprefix(catcher.url)))
