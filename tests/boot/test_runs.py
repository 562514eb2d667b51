"""What runs, from the command line."""

import asyncio
import json
import re

from horae.domain.ids import Prefix, public
from horae.domain.schedules.triggers import ManualTrigger
from horae.domain.targets.targets import HttpTarget, QueueTarget
from horae.service.instances import instances
from horae.service.workers.polls import Polls
from tests.holding import write_hold
from tests.steps import a_job


def test_backfills_instances_health_and_tenants_from_the_command_line(horae):
    horae("migrate")
    horae("job", "create", "coupon_job", "--cron", "0 */5 * * * ?")
    range_ = ("--since", "2026-01-01T00:00:00+00:00", "--until", "2026-01-01T01:00:00+00:00")
    begun = horae("backfill", "start", "coupon_job", *range_, "--key", "k")
    assert "12 planned" in begun
    id_ = re.search(r"bkf_\w+", begun)[0]
    horae("node", "--once")
    assert "DONE" in horae("backfill", "show", id_)
    listed = horae("instance", "list", "--state", "INIT", "--limit", "3")
    [first, *_] = re.findall(r"ins_\w+", listed)
    assert "CANCELLED" in horae("instance", "cancel", first)
    horae("instance", "retry", first, status=4)
    horae("backfill", "cancel", id_, status=4)
    assert "no node holds" in horae("health")
    assert "PAUSED" in horae.platform("tenant", "pause", "default")
    assert "ACTIVE" in horae.platform("tenant", "resume", "default")
    horae.platform("tenant", "remove", "default", "--confirm", "x", status=1)
    assert "REMOVED" in horae.platform("tenant", "remove", "default", "--confirm", "default")


async def test_what_waits_says_for_what_in_one_line(horae, ctx, store, monkeypatch):
    monkeypatch.setenv("HORAE_TENANT", "acme")
    job = await a_job(ctx, "slow", ManualTrigger(), target=HttpTarget("http://127.0.0.1:9/"))
    made = await instances.trigger(ctx, "slow", "k", even_if_down=True)
    await write_hold(store.cell(job.shard), job.tenant_id, "http://127.0.0.1:9/", waiting=467)
    id_ = public(Prefix.INSTANCE, made.instance_id)
    said = "circuit breaker of http://127.0.0.1:9/ open since"
    for words in (("instance", "show", id_), ("job", "show", "slow")):
        [line] = [line for line in (await asyncio.to_thread(horae, *words)).splitlines() if said in line]
        assert "467 waiting, next try" in line
    assert "breaker" in await asyncio.to_thread(horae, "hold", "list")
    [told] = json.loads(await asyncio.to_thread(horae, "hold", "list", "--json"))
    assert (told["reason"], told["waiting"]) == ("breaker", 467)


def test_people_and_groups_get_their_roles_from_the_command_line(horae):
    horae("migrate")
    assert "group:operations: operator, worker" in horae(
        "key", "bind", "group:operations", *["--role", "worker", "--role", "operator"]
    )
    assert "no role" in horae("key", "bind", "group:operations")
    assert "SCH_422_INVALID" in horae("key", "bind", "nobody:x", status=1)


async def test_queues_and_workers_are_listed_and_a_queue_without_a_worker_says_so(horae, ctx, store, monkeypatch):
    monkeypatch.setenv("HORAE_TENANT", "acme")
    for name in ("print_labels", "resize"):
        await a_job(ctx, name, ManualTrigger(), target=QueueTarget(name))
        await instances.trigger(ctx, name, name, even_if_down=True)
    polls = Polls(store)
    assert len(await polls.poll(ctx, "print_labels", "host-1/4711")) == 1
    await polls.recorder.once()
    listed = (await asyncio.to_thread(horae, "queue", "list")).splitlines()
    assert [("unattended" in line) for line in listed if "print_labels" in line or "resize" in line] == [False, True]
    [one] = json.loads(await asyncio.to_thread(horae, "worker", "list", "--polling", "--json"))
    assert (one["worker_id"], one["queue"], one["claimed"]) == ("host-1/4711", "print_labels", 1)
    assert "host-1/4711" not in await asyncio.to_thread(horae, "worker", "list", "--queue", "resize")
    said = await asyncio.to_thread(horae, "worker", "drain", "host-1/4711", "--reason", "it is replaced")
    assert said.strip() == "host-1/4711 gets no new work; it holds 1 attempts"
    [one] = json.loads(await asyncio.to_thread(horae, "worker", "list", "--json"))
    assert (one["status"], one["drain_reason"]) == ("DRAINING", "it is replaced")
    await asyncio.to_thread(horae, "worker", "resume", "host-1/4711")
    [one] = json.loads(await asyncio.to_thread(horae, "worker", "list", "--json"))
    assert one["status"] == "ACTIVE"
    await polls.close()
