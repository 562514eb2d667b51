"""`horae why` reads the cells, and needs neither an API nor a reason. Without a cell it asks the API."""

import asyncio
import json
from datetime import timedelta

from horae.domain.ids import Prefix, public
from horae.domain.schedules.triggers import RollingTrigger
from horae.service.jobs import jobs
from horae.service.rolling import subjects
from horae.service.tasks import tasks
from horae.upkeep.copies import Copier
from tests.cluster import free_port
from tests.steps import a_job, a_type


async def command(horae, *words, **facts):
    return await asyncio.to_thread(horae, *words, **facts)


async def test_it_says_why_in_sentences_and_in_json(horae, ctx, monkeypatch):
    monkeypatch.setenv("HORAE_TENANT", ctx.tenant.name)
    job = await a_job(ctx, "coupon")
    await jobs.pause(ctx, "coupon")
    said = await command(horae, "why", "coupon")
    assert said.splitlines()[0].startswith(f"job {public(Prefix.JOB, job.id)}, at ")
    assert said.splitlines()[1] == "- job coupon is paused; `horae job resume coupon` lets it continue"
    found = json.loads(await command(horae, "why", "coupon", "--json"))
    assert (found["kind"], [one["code"] for one in found["findings"]]) == ("job", ["PAUSED", "NOT_LEASED"])
    assert "SCH_404_NOT_FOUND" in await command(horae, "why", "nothing", status=3)


async def test_a_cell_that_is_down_is_named(horae, ctx, store, cells, monkeypatch):
    monkeypatch.setenv("HORAE_TENANT", ctx.tenant.name)
    job = await a_job(ctx, "coupon")
    await Copier(store).once()
    home, nobody = store.cell(job.shard).name, f"postgresql://nobody@127.0.0.1:{free_port()}/nothing"
    lost = [one.model_dump() | ({"dsn": nobody} if one.name == home else {}) for one in cells]
    monkeypatch.setenv("HORAE_CELLS", json.dumps(lost))
    assert f"{home} cannot be reached, and coupon may lie there" in await command(horae, "why", "coupon", status=5)


async def test_a_fire_at_a_time_is_explained_in_chinese(horae, ctx, monkeypatch):
    monkeypatch.setenv("HORAE_TENANT", ctx.tenant.name)
    job = await a_job(ctx, "coupon")
    at = job.next_fire_at.isoformat()
    said = await command(horae, "why", "coupon", "--at", at, "--lang", "zh")
    assert said.splitlines()[0].startswith(f"触发 coupon {at}，")
    assert "这次触发还没到时间" in said.splitlines()[1]
    assert "is no time" in await command(horae, "why", "coupon", "--at", "noon", status=1)
    assert "have only one" in await command(horae, "why", "coupon/key", "--at", "02:00", status=1)


async def test_without_a_cell_the_api_is_asked(horae, api, ctx, store, monkeypatch):
    await a_job(ctx, "coupon")
    await a_job(ctx, "set", RollingTrigger(window=600, every=60, anchor=ctx.now()))
    await a_type(ctx, "T")
    await Copier(store).once()
    await tasks.schedule(ctx, "T", "a/b", at=ctx.now() + timedelta(hours=1))
    await subjects.add(ctx, await jobs.find(ctx, "set"), ["p"])
    url, key = await asyncio.to_thread(lambda: (api.url, api.key(ctx.tenant.name)))
    monkeypatch.setenv("HORAE_URL", url)
    monkeypatch.setenv("HORAE_KEY", key)
    monkeypatch.delenv("HORAE_CELLS")
    assert "- job coupon fires next at" in await command(horae, "why", "coupon")
    assert "关于它的最近一次请求的结果是新建" in await command(horae, "why", "T/a/b", "--lang", "zh")
    found = json.loads(await command(horae, "why", "set/p", "--json"))
    assert (found["kind"], found["subject"]) == ("subject", "set/p")
    live = found["findings"][-1]
    assert (live["code"], live["rows"]) == ("SUBJECT_NEVER_REFRESHED", [{"kind": "subject", "ref": "set/p"}])
    assert "have only one" in await command(horae, "why", "T/a/b", "--at", "02:00", status=1)
    assert "SCH_404" in await command(horae, "why", "ins_01hv3zq5k8e9r7t2m4n6p8s0v1", status=3)
