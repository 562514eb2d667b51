"""However many intakes have a backlog, few batches are written at once, and one of a tenant."""

import asyncio
from collections import Counter

import asyncpg
import pytest

from horae.delivery.broker_connections import broker_rules
from horae.domain.events.channels import TopicAddress
from horae.domain.events.intakes import Intake
from horae.domain.ids import shard_in
from horae.runtime.settings import BrokerSettings
from horae.service.context import Context, PlatformContext
from horae.service.events import intake_batches, intakes
from horae.service.events.intake_batches import IntakeResult
from horae.service.tenants import tenants
from horae.store.events import intakes as rows
from horae.upkeep import intakes as intakes_module
from horae.upkeep.copies import Copier
from horae.upkeep.intakes import Intakes
from tests.steps import a_type, until

INTAKES = 8


class FullTopic:
    """A topic that always has another message."""

    async def open(self):
        pass

    async def close(self):
        pass

    async def take(self, _most, _wait):
        return [intake_batches.IntakeMessage(b"{}", "here")]

    async def acknowledge(self, _batch):
        pass

    async def backlog(self):
        return 1


@pytest.fixture
def written(monkeypatch):
    """How many batches of each tenant were written, and the most that were at once, by tenant and in all."""
    now, most, total = Counter(), Counter(), Counter()

    async def take(ctx, _standing, batch):
        now[ctx.tenant.id] += 1
        most[ctx.tenant.id] = max(most[ctx.tenant.id], now[ctx.tenant.id])
        most["all"] = max(most["all"], now.total())
        for _ in range(5):
            await asyncio.sleep(0)
        now[ctx.tenant.id] -= 1
        total[ctx.tenant.id] += 1
        return IntakeResult(len(batch), 0)

    monkeypatch.setattr(intake_batches, "apply_batch", take)
    monkeypatch.setattr(intakes_module, "source_of", lambda *_: FullTopic())
    return total, most


async def test_a_tenant_with_many_intakes_has_one_place_and_another_is_not_kept_waiting(store, written):
    total, most = written
    brokers = {"main": BrokerSettings(kind="kafka", url="nowhere:1")}
    store.brokers = broker_rules(brokers)
    made = []
    for name in ("busy", "small", "third"):
        ctx = Context.of(store, await tenants.create(PlatformContext(store, "test"), name, width=1), "test")
        await a_type(ctx, "PUBLISH")
        for number in range(INTAKES if name == "busy" else 1):
            await intakes.put(ctx, f"in-{number}", Intake(TopicAddress("main", f"{name}.t{number}"), ("PUBLISH",)))
        made.append(ctx.tenant.id)
    await Copier(store).once()
    duty = Intakes(store, brokers, store.shards_of)
    await duty.once()
    try:
        await until(lambda: all(total[tenant_id] >= 20 for tenant_id in made), 60)
    finally:
        await duty.close()
    assert all(most[tenant_id] == 1 for tenant_id in made)
    assert most["all"] <= 2 * len({store.cell(shard_in(tenant_id)).name for tenant_id in made})


async def test_an_intake_whose_failure_cannot_be_written_goes_on_when_it_can(ctx, store, monkeypatch):
    """A full disk refuses the batch and the row that would say so."""
    brokers = {"main": BrokerSettings(kind="kafka", url="nowhere:1")}
    store.brokers = broker_rules(brokers)
    await a_type(ctx, "PUBLISH")
    await intakes.put(ctx, "in", Intake(TopicAddress("main", f"{ctx.tenant.name}.t"), ("PUBLISH",)))
    await Copier(store).once()
    full, refused, taken = True, 0, 0

    async def take(_ctx, _standing, batch):
        nonlocal refused, taken
        if full:
            refused += 1
            raise asyncpg.DiskFullError("no space left on device")
        taken += len(batch)
        return IntakeResult(len(batch), 0)

    move = rows.move

    async def moved(tx, *args, **facts):
        if full:
            raise asyncpg.DiskFullError("no space left on device")
        await move(tx, *args, **facts)

    monkeypatch.setattr(intake_batches, "apply_batch", take)
    monkeypatch.setattr(rows, "move", moved)
    monkeypatch.setattr(intakes_module, "source_of", lambda *_: FullTopic())
    monkeypatch.setattr(intakes_module, "FAILURE_PAUSE_S", 0)
    duty = Intakes(store, brokers, store.shards_of)
    await duty.once()
    try:
        await until(lambda: refused > 1, 60)
        full = False
        await duty.once()
        await until(lambda: taken > 0, 60)
    finally:
        await duty.close()


async def test_the_task_of_an_intake_that_has_ended_is_started_again(ctx, store, written, monkeypatch):
    brokers = {"main": BrokerSettings(kind="kafka", url="nowhere:1")}
    store.brokers = broker_rules(brokers)
    await a_type(ctx, "PUBLISH")
    await intakes.put(ctx, "in", Intake(TopicAddress("main", f"{ctx.tenant.name}.t"), ("PUBLISH",)))
    await Copier(store).once()
    duty = Intakes(store, brokers, store.shards_of)
    run = duty._run_intake

    async def ends(*_):
        raise RuntimeError("an error that nobody thought of")

    monkeypatch.setattr(duty, "_run_intake", ends)
    await duty.once()
    await until(lambda: all(task.done() for task in duty._going.values()), 60)
    monkeypatch.setattr(duty, "_run_intake", run)
    await duty.once()
    try:
        await until(lambda: written[0][ctx.tenant.id] > 0, 60)
    finally:
        await duty.close()
