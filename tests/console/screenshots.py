"""`make screenshots`: every page in both languages, from a server of its own, into `docs/console`.

Named pages alone: `python -m tests.console.screenshots sources source`.
"""

import asyncio
import os
import sys
import tempfile
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, expect

from horae.service.certificates import certificates
from tests.boot.fleet import until
from tests.cluster import private_cluster
from tests.console.browser import LANGUAGES, NARROW, browsing, profile
from tests.console.certified_days import KEY
from tests.console.desk import Desk
from tests.console.graph_runs import blocked_run
from tests.console.pages import PLATFORM, pages_of
from tests.console.runs import runs_and_causes
from tests.console.scene import QUICK, Scene, set_up
from tests.console.serving import Home, Served, serving
from tests.console.words import Words
from tests.probes import NO_PROBES

DAYS = 2
"""Days that pass before today; what happened in them happened."""
A_WHILE_S = 40
"""Seconds of real work on each of these days."""
RECOVERY_S = 120
FOLDER = Path(__file__).parents[2] / "docs/console"
BY_NIGHT = ("overview", "task")
OF_GRAPHS = ("graph", "graph-run")
ON_A_PHONE = ("instances", "task", "source", "alerts")


async def main(only: list[str]) -> None:
    """A server, some life in it, and a picture of every page, or of these alone."""
    FOLDER.mkdir(exist_ok=True)
    os.environ |= NO_PROBES  # a node of somebody else may have the ports of the probes
    with private_cluster() as cluster, tempfile.TemporaryDirectory() as folder:
        await cluster.make_template()
        async with serving(cluster, Path(folder)) as served, browsing() as browser:
            home, platform = await served.home("acme", key="ada"), await served.platform(key="grace")
            made = await lived_in(served, home, platform)
            for language in LANGUAGES:
                for key, pages, wishes in shots(home, platform, made):
                    wanted = {name: path for name, path in pages.items() if not only or name in only}
                    if wanted:
                        await walk(browser, served, language, key, wanted, **wishes)


def shots(home: Home, platform: Home, made: dict[str, str]) -> list[tuple[str, dict[str, str], dict[str, Any]]]:
    """Who looks at which pages, and how: by day, some by night, some on a phone."""
    pages = pages_of(made) | {name: made[name] for name in OF_GRAPHS}
    dark = {f"{name}-dark": pages[name] for name in BY_NIGHT}
    phone = {f"{name}-phone": pages[name] for name in ON_A_PHONE}
    return [
        (home.key, pages, {}),
        (platform.key, PLATFORM | {"incident": made["incident"]}, {}),
        (home.key, dark, {"color_scheme": "dark"}),
        (home.key, phone, {"viewport": NARROW}),
    ]


async def lived_in(served: Served, home: Home, platform: Home) -> dict[str, str]:
    """A tenant whose jobs have run for some days: the clock of all cells is moved, each row is of a real run."""
    scene = Scene(served, home)
    days = await some_days(scene)
    incident = await an_incident(Scene(served, platform))
    made = await set_up(served, home) | await runs_and_causes(scene)
    for day in days:
        await certificates.make(home.ctx, KEY, day)
    made |= {"certificate": f"/certificates?day={days[-1]}", "incident": incident}
    graph = await blocked_run(scene, "nightly_orders")
    made |= {"graph": f"/jobs/{graph.graph}?view=graph", "graph-run": graph.page}
    more = {"keys": [f"product-{number:03}" for number in range(12, 80)], "at_once": True}
    await home.ask("PUT", "/jobs/STOCK/subjects", more)
    done = lambda told: sum(one["last_success_at"] is not None for one in told["items"]) >= 70  # noqa: E731
    await scene.when("/jobs/STOCK/subjects?limit=200", done)
    await home.ask("POST", "/intakes/changes/pause")
    for _ in range(12):
        await scene.ended(await scene.trigger("coupon_job"))
    await at_queues(scene)
    since, until = scene.now - timedelta(hours=2), scene.now - timedelta(minutes=1)
    range_ = {"since": since.isoformat(), "until": until.isoformat()}
    begun = await home.ask("POST", "/jobs/coupon_job/backfill", range_, **{"Idempotency-Key": "pictures"})
    await scene.when(f"/backfills/{begun['id']}", lambda one: one["status"] == "DONE" and not one["waiting"], 120)
    return made


async def some_days(scene: Scene) -> list[date]:
    """Two jobs that fire every few seconds for a while on each of some days, and fail now and then; gives the days."""
    orders = await scene.job("order_sync", trigger=every(2), labels={"team": "orders"}, owner="orders", retry=QUICK)
    await scene.job("mail_digest", trigger=every(5), labels={"team": "growth"}, owner="growth")
    days = []
    for number in range(DAYS + 1):
        await scene.fails(orders, *[503] * number * QUICK["max_failures"])
        await asyncio.sleep(A_WHILE_S)
        if number < DAYS:
            days.append(scene.now.date())
            await pass_a_day(scene)
    return days


async def an_incident(scene: Scene) -> str:
    """An incident from which the node recovers; gives its page."""
    begun = await scene.home.ask("POST", "/incidents", {"grade": "P2", "reason": "errors of a payment provider"})
    await scene.when(f"/incidents/{begun['id']}", lambda one: one["step"] == "AUDIT", RECOVERY_S)
    await scene.served.pass_time(minutes=3)  # fires are audited two minutes later
    await scene.when(f"/incidents/{begun['id']}", lambda one: one["result"], RECOVERY_S)
    await until("a node holds every shard", scene.served.held)
    return f"/incidents/{begun['id']}"


async def pass_a_day(scene: Scene) -> None:
    """A night in which both jobs are paused; the node takes its shards again."""
    jobs = ("order_sync", "mail_digest")
    for job in jobs:
        await scene.home.ask("POST", f"/jobs/{job}/pause")
    await scene.served.pass_time(days=1)
    await until("a node holds every shard", scene.served.held)
    for job in jobs:
        await scene.home.ask("POST", f"/jobs/{job}/resume")


def every(seconds: int) -> dict[str, Any]:
    """A trigger that fires every few seconds."""
    return {"kind": "interval", "every": seconds}


async def at_queues(scene: Scene) -> None:
    """Two queues: one with workers, one whose work nobody takes."""
    for name in ("print_labels", "resize_pictures"):
        await scene.queue(name)
        for _ in range(3):
            await scene.trigger(name)
    for worker, queue in (("host-1/4711", "print_labels"), ("host-2/97", "print_labels")):
        await scene.home.ask("POST", "/workers/poll", {"queue": queue, "worker_id": worker, "limit": 1})
    polled = lambda page: sum(one["queue"] == "print_labels" for one in page["items"]) == 2  # noqa: E731
    await scene.when("/workers", polled)


async def walk(
    browser: Browser, served: Served, language: str, key: str, pages: dict[str, str], **wishes: object
) -> None:
    """A picture of each of these pages, by a browser whose clock is that of the cells."""
    async with profile(browser, language, **wishes) as context:
        desk = Desk(await context.new_page(), served, Words(language), clock=False)
        await desk.page.clock.install(time=served.store.cells[0].clock.now())
        if pages.get("overview") is not None:
            await desk.page.goto(f"{served.url}/console/")
            await expect(desk.page.get_by_label(desk.words("login.key"))).to_be_visible()
            await desk.page.screenshot(path=FOLDER / f"login.{language}.png")
        await desk.log_in(key)
        for name, path in pages.items():
            await desk.open(path)
            await desk.page.wait_for_load_state("networkidle")
            await desk.settled()
            await desk.page.screenshot(path=FOLDER / f"{name}.{language}.png")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
