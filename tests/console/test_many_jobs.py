"""The list of jobs: what many of them are changed by at once, saved views, columns and exports."""

import csv
import io
import json
from pathlib import Path

import pytest
from playwright.async_api import expect

from horae.runtime.randomness import new_id
from tests.console.scene import Scene
from tests.steps import query

MANY = 5_000
PATIENCE_MS = 120_000
JOBS = """
    with made as (
        insert into job (shard_id, id, tenant_id, name, status, definition, created_at, changed_at)
        select n.shard_id, n.id, $4, n.name, 'ACTIVE', $5::jsonb, now(), now()
        from unnest($1::smallint[], $2::uuid[], $3::text[]) as n(shard_id, id, name)
        returning *)
    insert into job_version (shard_id, job_id, tenant_id, name, version, definition, created_at, created_by)
    select shard_id, id, tenant_id, name, version, definition, created_at, 'test' from made"""


async def many_jobs(served, home, count: int) -> None:
    """Jobs with the definition of one that the API made, without a request for each."""
    await Scene(served, home).queue("other")
    [row] = await query(served.store, "select definition from job where tenant_id = $1", home.tenant.id)
    places = [(home.tenant.shard(name), name) for name in (f"nightly_{n:05}" for n in range(count))]
    for cell in served.store.cells:
        here = [(shard, name) for shard, name in places if served.store.cell(shard).name == cell.name]
        async with cell.pool.acquire() as connection:
            await connection.execute(
                JOBS,
                [shard for shard, _ in here],
                [new_id(shard, cell.clock.now(), 0) for shard, _ in here],
                [name for _, name in here],
                home.tenant.id,
                row["definition"],
            )


async def status_counts(served, home) -> dict[str, int]:
    found: dict[str, int] = {}
    for cell in served.store.cells:
        async with cell.pool.acquire() as connection:
            rows = await connection.fetch(
                "select status, count(*) from job where tenant_id = $1 group by status", home.tenant.id
            )
        for status, count in rows:
            found[status] = found.get(status, 0) + count
    return found


@pytest.mark.parametrize("count", [300, pytest.param(MANY, marks=[pytest.mark.long, pytest.mark.timeout(400)])])
async def test_all_jobs_that_match_are_paused_and_exactly_those_are_resumed(desk, home, served, words, count):
    await many_jobs(served, home, count)
    await home.ask("POST", "/jobs/nightly_00007/pause")
    await desk.open("/jobs?contains=NIGHT")
    await desk.page.get_by_role("checkbox", name=words("lists.select.page")).check()
    await expect(desk.page.get_by_text(words("lists.select.count", count=50))).to_be_visible()
    await desk.press("lists.select.all")
    await desk.press("lists.bulk.pause")
    changes = words("lists.bulk.willChange", count=f"{count - 1:,}", total=f"{count - 1:,}")
    await expect(desk.dialog.get_by_text(changes)).to_be_visible()
    await expect(desk.dialog.get_by_text("nightly_00000")).to_be_visible()
    await desk.dialog.get_by_role("button", name=words("lists.bulk.pause"), exact=True).click()
    done = words("lists.bulk.done", verb=words("lists.bulk.pause"), count=f"{count - 1:,}")
    await expect(desk.page.get_by_text(done)).to_be_visible(timeout=PATIENCE_MS)
    assert await status_counts(served, home) == {"ACTIVE": 1, "PAUSED": count}
    await desk.press("lists.bulk.undo")
    await expect(desk.dialog.get_by_text(changes)).to_be_visible()
    await desk.dialog.get_by_role("button", name=words("lists.bulk.resume"), exact=True).click()
    undone = words("lists.bulk.undone", count=f"{count - 1:,}")
    await expect(desk.page.get_by_text(undone)).to_be_visible(timeout=PATIENCE_MS)
    assert await status_counts(served, home) == {"ACTIVE": count, "PAUSED": 1}
    paused = (await home.ask("GET", "/jobs?status=PAUSED"))["items"]
    assert [one["name"] for one in paused] == ["nightly_00007"]


async def test_selected_jobs_alone_are_paused_and_those_that_cannot_be_say_why(desk, home, served, words):
    scene = Scene(served, home)
    for name in ("a", "b", "c"):
        await scene.queue(name)
    await home.ask("POST", "/jobs/b/pause")
    await desk.open("/jobs")
    for name in ("a", "b"):
        await desk.page.get_by_role("checkbox", name=words("lists.select.one", name=name), exact=True).check()
    await desk.press("lists.bulk.pause")
    await expect(desk.dialog.get_by_text(words("lists.bulk.willChange", count=1, total=2))).to_be_visible()
    await expect(desk.dialog.get_by_text(words.containing("lists.bulk.willStay", count=1))).to_be_visible()
    await desk.dialog.get_by_role("button", name=words("lists.bulk.pause"), exact=True).click()
    await expect(desk.button("lists.bulk.undo")).to_be_visible()
    assert await status_counts(served, home) == {"ACTIVE": 1, "PAUSED": 2}


async def test_a_view_is_saved_opened_and_shared_by_its_address(desk, home, served, words):
    scene = Scene(served, home)
    await scene.queue("invoices", owner="billing")
    await scene.queue("coupons", owner="shop")
    await desk.open("/jobs?owner=billing")
    await expect(desk.page.locator(".rows tbody tr")).to_have_count(1)
    await desk.press("lists.views.verb")
    await desk.page.get_by_role("menuitem", name=words("lists.views.save")).click()
    await desk.dialog.get_by_role("textbox", name=words("lists.views.name")).fill("Billing")
    await desk.dialog.get_by_role("button", name=words("lists.views.saveVerb"), exact=True).click()
    await desk.open("/jobs")
    await expect(desk.page.locator(".rows tbody tr")).to_have_count(2)
    await desk.press("lists.views.verb")
    await desk.page.get_by_role("menuitem", name="Billing", exact=True).click()
    await expect(desk.page.locator(".rows tbody tr")).to_have_count(1)
    assert desk.page.url.endswith("/jobs?owner=billing")


async def test_columns_are_chosen_and_remembered(desk, home, served, words):
    await Scene(served, home).queue("invoices")
    await desk.open("/jobs")
    target = desk.page.get_by_role("columnheader", name=words("jobs.list.target"), exact=True)
    version = desk.page.get_by_role("columnheader", name=words("jobs.list.version"), exact=True)
    await expect(target).to_be_visible()
    await desk.press("lists.columns.verb")
    await desk.page.get_by_role("menuitem", name=words("jobs.list.target"), exact=True).click()
    await desk.page.get_by_role("menuitem", name=words("jobs.list.version"), exact=True).click()
    await expect(target).to_have_count(0)
    await desk.open("/jobs")
    await expect(version).to_be_visible()
    await expect(target).to_have_count(0)


async def test_what_is_listed_is_exported_over_all_pages(desk, home, served, words):
    await many_jobs(served, home, 430)
    await desk.open("/jobs?contains=nightly")
    saved = {}
    for form in ("csv", "json"):
        await desk.press("lists.export.verb")
        async with desk.page.expect_download() as download:
            await desk.page.get_by_role("menuitem", name=words(f"lists.export.{form}"), exact=True).click()
        saved[form] = Path(await (await download.value).path()).read_text(encoding="utf-8-sig")
        await expect(desk.dialog.get_by_text(words("lists.export.done", rows=430))).to_be_visible()
        await desk.page.keyboard.press("Escape")
        await expect(desk.dialog).to_have_count(0)
    names = [f"nightly_{n:05}" for n in range(430)]
    assert [row["name"] for row in csv.DictReader(io.StringIO(saved["csv"]))] == names
    assert [row["name"] for row in json.loads(saved["json"])] == names
