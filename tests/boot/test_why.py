"""`horae why` reads the cells, and needs neither an API nor a reason."""

import asyncio
import json

from horae.domain.ids import Prefix, public
from horae.service.jobs import jobs
from horae.upkeep.copies import Copier
from tests.cluster import free_port
from tests.steps import a_job


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
