"""The page of a run of a graph: what failed is found, run again, skipped or marked; a thousand steps stay light."""

import re
from urllib.parse import quote

import pytest
from playwright.async_api import expect

from horae.security.roles import Role
from tests.console.browser import NARROW, profile
from tests.console.desk import Desk
from tests.console.graph_runs import big_run, blocked_run
from tests.console.page_checks import AXE, check_page
from tests.console.scene import Scene
from tests.console.test_strangers import EVIL, NAMES, TEXTS
from tests.console.words import Words

MAX_DRAWN = 120
"""Steps of a thousand that are in the page at once: a screenful, and some room around it."""
MAX_TASK_MS = 200
"""Median work of the page's main thread for one refresh of a thousand steps, on a machine that others use as well."""
LISTEN = """() => {
    window.__tasks = [];
    new PerformanceObserver(list => window.__tasks.push(...list.getEntries().map(one => one.duration)))
        .observe({type: "longtask", buffered: false});
}"""


def step(desk, name):
    """A step of the drawing."""
    return desk.page.locator(f'.graph-step[data-step="{name}"]')


def row(desk, name):
    """A step of the table."""
    return desk.page.locator("#steps tbody tr").filter(
        has=desk.page.get_by_role("button", name=desk.words("graphs.steps.open", name=name), exact=True)
    )


@pytest.mark.parametrize("language", ["zh-CN", "en"])
async def test_a_failed_step_is_found_and_run_again_from_the_page(desk, home, served, words, language):
    scene = Scene(served, home)
    run = await blocked_run(scene, "nightly_orders")
    await desk.go("/jobs/nightly_orders")
    await desk.page.get_by_role("link", name=words("jobs.view.graph")).click()
    await expect(step(desk, "report")).to_be_visible()
    await desk.page.locator("#runs tbody a").first.click()
    await expect(desk.page.locator("h1")).to_have_text("nightly_orders")
    await expect(desk.page.locator(".page-head .state")).to_have_text(words("graphs.runState.BLOCKED"))
    await expect(desk.page.locator(".hold")).to_contain_text(
        words("graphs.blocked.step", name="load", reason="HTTP_4XX")
    )
    await expect(step(desk, "load")).to_contain_text(f"{words('graphs.state.DEAD')} · HTTP_4XX")
    await expect(row(desk, "report")).to_contain_text(words("graphs.state.BLOCKED"))
    await expect(row(desk, "load")).to_contain_text("HTTP_4XX")
    await step(desk, "load").click()
    await desk.press("graphs.retry.verb")
    await expect(desk.dialog).to_contain_text(words("graphs.retry.runs", count=3, names="load, report, audit"))
    await expect(desk.dialog).to_contain_text(words("graphs.retry.sameKey", name="load"))
    await expect(desk.dialog).to_contain_text(words("graphs.retry.newKey"))
    await desk.dialog.get_by_role("button", name=words("graphs.retry.verb")).click()
    await expect(desk.dialog).to_have_count(0)
    await desk.until_seen(desk.page.locator(".page-head .state.tone-good"), every=3)
    await expect(step(desk, "report")).to_contain_text(words("graphs.state.SUCCESS"))
    await expect(desk.page.locator(".hold")).to_have_count(0)
    found = await home.ask("GET", f"/graph-runs/{run.id}")
    assert found["state"] == "SUCCESS"


@pytest.mark.parametrize(("action", "state"), [("skip", "WAIVED"), ("succeed", "SUCCESS")])
async def test_a_failed_step_is_skipped_or_marked_as_succeeded(desk, home, served, words, language, action, state):
    run = await blocked_run(Scene(served, home), "nightly_orders")
    await desk.go(f"{run.page}?step=load")
    await desk.press(f"graphs.{action}.verb")
    await expect(desk.dialog).to_contain_text(words(f"graphs.{action}.follow", names="report, audit"))
    await desk.dialog.get_by_role("button", name=words(f"graphs.{action}.verb")).click()
    await expect(step(desk, "load")).to_contain_text(words(f"graphs.state.{state}"))
    await desk.until_seen(desk.page.locator(".page-head .state.tone-good"), every=3)
    await expect(desk.page.locator("#step")).to_contain_text(words("graphs.actions.over"))


async def test_elements_results_and_the_critical_path_are_shown(desk, home, served, words, language):
    run = await blocked_run(Scene(served, home), "nightly_orders")
    await desk.go(run.page)
    mark = f"{words('graphs.drawing.elements', count=5)}, {words('graphs.drawing.failed', count=1)}"
    await expect(step(desk, "notify")).to_contain_text(mark)
    await step(desk, "notify").click()
    panel = desk.page.locator("#step")
    await panel.get_by_role("button", name=words("graphs.state.DEAD")).click()
    await expect(panel.locator("tbody tr")).to_have_count(1)
    await expect(panel.locator("tbody tr")).to_contain_text("HTTP_4XX")
    await panel.locator("tbody a").click()
    await expect(desk.page).to_have_url(re.compile("/console/instances/ins_"))
    await expect(desk.page.locator(".facts").get_by_role("link", name="nightly_orders/notify")).to_have_attribute(
        "href", re.compile("/jobs/nightly_orders.*step=notify")
    )
    await desk.page.go_back()
    await step(desk, "extract").click()
    await expect(desk.page.locator(".graph-handed")).to_have_text('{"rows":1204,"file":"orders.parquet"}')
    await expect(panel.locator(".json")).to_contain_text('"rows": 1204')
    assert len(await desk.page.locator(".graph-edge.critical").get_attribute("d") or "") > 0
    await expect(row(desk, "load")).to_contain_text(words("graphs.steps.yes"))


async def test_the_drawing_is_walked_with_the_keyboard(desk, home, served, words, language):
    run = await blocked_run(Scene(served, home), "nightly_orders")
    await desk.go(run.page)
    await step(desk, "load").focus()
    for key, name in [("ArrowLeft", "extract"), ("ArrowRight", "load"), ("ArrowRight", "report"), ("Home", "extract")]:
        await desk.page.keyboard.press(key)
        await expect(step(desk, name)).to_be_focused()
    assert await desk.page.locator('.graph-step[tabindex="0"]').count() == 1
    await desk.page.keyboard.press("Enter")
    await expect(desk.page.locator("#step h3")).to_have_text("extract")


async def test_who_may_not_read_payloads_or_change_runs_is_told_so(home, served, words, browser, language):
    run = await blocked_run(Scene(served, home), "nightly_orders")
    async with profile(browser, language) as context:
        desk = Desk(await context.new_page(), served, words)
        await desk.log_in(await home.key_of(Role.VIEWER))
        await desk.go(f"{run.page}?step=extract")
        await expect(desk.page.locator("#step")).to_contain_text(words("logs.result.notPermitted"))
        await expect(desk.page.locator(".graph-handed")).to_have_count(0)
        await expect(desk.button("graphs.retry.verb")).to_have_attribute("aria-disabled", "true")
        desk.ears.check()


@pytest.mark.parametrize(("language", "scheme"), [("zh-CN", "light"), ("en", "dark")])
async def test_a_run_and_its_graph_pass_axe_and_fit_a_phone(home, served, browser, language, scheme):
    run = await blocked_run(Scene(served, home), "nightly_orders")
    async with profile(browser, language, color_scheme=scheme, bypass_csp=True) as context:
        await context.add_init_script(path=AXE)
        desk = Desk(await context.new_page(), served, Words(language))
        await desk.log_in(home.key)
        for path in (
            f"{run.page}?step=notify",
            f"{run.page}?step=extract",
            "/jobs/nightly_orders?view=graph&step=load",
        ):
            await desk.open(path)
            await expect(desk.page.locator("#step h3")).to_be_visible()
            await check_page(desk, path)
            await desk.page.set_viewport_size(NARROW)
            await expect(desk.page.locator("#step h3")).to_be_visible()


@pytest.mark.parametrize("language", ["en"])
async def test_names_results_and_payloads_of_a_graph_are_never_executed(desk, home, served, words, language):
    run = await blocked_run(Scene(served, home), NAMES[0], result={EVIL: TEXTS, "names": NAMES}, note=EVIL)
    await desk.page.add_init_script("window.__pwned = 0")
    await desk.go(f"{run.page}?step=extract")
    await expect(desk.page.locator("h1")).to_have_text(NAMES[0])
    await expect(desk.page.locator(".graph-handed")).to_contain_text(TEXTS[0][:20])
    await expect(desk.page.locator("#step .json")).to_contain_text(NAMES[0])
    await desk.go(f"{run.page}?step={quote(EVIL[:300])}")
    await expect(step(desk, "load")).to_be_visible()
    await desk.go(f"/jobs/{quote(NAMES[0], safe='')}?view=graph&step=load")
    await expect(desk.page.locator("#step .json")).to_contain_text(TEXTS[0])
    assert await desk.page.evaluate("window.__pwned") == 0


@pytest.mark.parametrize("language", ["en"])
async def test_a_thousand_steps_are_drawn_with_few_nodes_and_little_work(desk, home, served, words, language):
    page = await big_run(Scene(served, home), "big")
    await desk.go(page)
    await expect(step(desk, "step-0")).to_be_visible()
    assert await desk.page.locator(".graph-step").count() <= MAX_DRAWN
    assert await desk.page.locator("#steps tbody tr").count() == 50
    assert await desk.page.locator("main *").count() < 3_000
    await desk.page.evaluate(LISTEN)
    for turn in range(10):
        await desk.page.evaluate("(x) => document.querySelector('.graph').scrollTo(x, 0)", turn * 300)
        await desk.later(3)
    await step(desk, "step-0").evaluate("one => one.focus({preventScroll: true})")
    await desk.page.keyboard.press("End")
    await expect(desk.page.locator(".graph-step:focus")).to_be_in_viewport()
    assert await desk.page.locator(".graph-step").count() <= MAX_DRAWN
    tasks = sorted(await desk.page.evaluate("window.__tasks"))
    assert not tasks or tasks[len(tasks) // 2] <= MAX_TASK_MS, tasks
