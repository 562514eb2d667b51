"""`make screenshots`: every page in both languages, from a server of its own, into `docs/console`.

Named pages alone: `python -m tests.console.screenshots sources source`.
"""

import asyncio
import os
import sys
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, expect

from horae.domain.ids import shard_in
from tests.cluster import private_cluster
from tests.console.browser import LANGUAGES, NARROW, browsing, profile
from tests.console.certified_days import certified_days
from tests.console.desk import Desk
from tests.console.pages import PLATFORM, pages_of
from tests.console.runs import runs_and_causes
from tests.console.scene import Scene, set_up
from tests.console.serving import Home, Served, serving
from tests.console.words import Words
from tests.probes import NO_PROBES
from tests.steps import query

A_DAY = """
    insert into signal (minute, success, failed, dead, skipped, retry_backlog, backlog, priority, lane, tenant_id,
                        writer, delays)
    select minute, n, n / 30 + (n % 40 = 0)::int * 6, (n % 40 = 0)::int, (n % 17 = 0)::int, n % 40 / 9, n % 5, 1, 0, $1,
           gen_random_uuid(), array[n / 2, n / 3, n / 8, n / 20, n / 40, n / 55, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    from (select minute, (60 + 45 * sin(extract(epoch from minute) / 13751) + extract(minute from minute) / 4)::int as n
          from generate_series(date_trunc('minute', $2::timestamptz) - interval '24 hours',
                               date_trunc('minute', $2::timestamptz), interval '1 minute') minute) made"""
"""What nodes would have counted in a day: a picture of an hour-old server would show nothing."""
A_MONTH = """
    insert into service_level (begins_at, in_time, late, tenant_id, step_minutes, priority)
    select date_trunc('day', $2::timestamptz, 'UTC') - n * interval '1 day', 96000 + n * 130, n % 7 * 5,
           tenant_id, 1440, 1
    from generate_series(1, 30) n, (values ($1::uuid), ('00000000-0000-0000-0000-000000000000'::uuid)) t(tenant_id)
    on conflict do nothing"""
"""Due times of a month: nearly all of them in time."""
OF_AGE = """
    update subject set last_success_at = $1::timestamptz - (n * n % 11) * interval '26 hours'
    from (select key as k, row_number() over (order by key) as n from subject) made
    where key = made.k and last_success_at is not null"""
"""Refreshes of a set over eleven days."""
TAKEN = """
    insert into intake_position (looked_at, taken_at, taken, parked, waiting, channel_id, tenant_id)
    select $2, $2, 48211, 2, 316, id, tenant_id from channel where tenant_id = $1 and kind = 'intake'
    on conflict (channel_id) do update set taken = 48211, parked = 2, waiting = 316, taken_at = $2, error = null"""
"""What an intake would have taken: there is no broker here, so that it is paused."""
RESOLVED = """
    insert into alert (opened_at, last_seen_at, acknowledged_at, acknowledged_by, resolved_at, count, resolve_after,
                       repeat_after, id, tenant_id, adds, rule, kind, severity, group_key, job, job_id, owner, reason,
                       channels)
    select $2::timestamptz - interval '9 hours', $2::timestamptz - interval '8 hours 40 minutes',
           $2::timestamptz - interval '8 hours 51 minutes', 'user:grace',
           $2::timestamptz - interval '8 hours 39 minutes', 1, 60, 3600, gen_random_uuid(), $1, false, 'coupons',
           'no_success', 'critical', id::text, name, id, 'growth', 'no success for 1 h 4 min', array['growth-group']
    from job where tenant_id = $1 and name = 'coupon_job'"""
"""An alert of the night before: a real one is resolved minutes after its fault."""
FOLDER = Path(__file__).parents[2] / "docs/console"
BY_NIGHT = ("overview", "task")
ON_A_PHONE = ("instances", "task", "source", "alerts")


async def main(only: list[str]) -> None:
    """A server, some life in it, and a picture of every page, or of these alone."""
    FOLDER.mkdir(exist_ok=True)
    os.environ |= NO_PROBES  # a node of somebody else may have the ports of the probes
    with private_cluster() as cluster, tempfile.TemporaryDirectory() as folder:
        await cluster.make_template()
        async with serving(cluster, Path(folder)) as served, browsing() as browser:
            home, platform = await served.home("acme", key="ada"), await served.platform(key="grace")
            made = await lived_in(served, home)
            for language in LANGUAGES:
                for key, pages, wishes in shots(home, platform, made):
                    wanted = {name: path for name, path in pages.items() if not only or name in only}
                    if wanted:
                        await walk(browser, served, language, key, wanted, **wishes)


def shots(home: Home, platform: Home, made: dict[str, str]) -> list[tuple[str, dict[str, str], dict[str, Any]]]:
    """Who looks at which pages, and how: by day, some by night, some on a phone."""
    pages = pages_of(made)
    dark = {f"{name}-dark": pages[name] for name in BY_NIGHT}
    phone = {f"{name}-phone": pages[name] for name in ON_A_PHONE}
    return [
        (home.key, pages, {}),
        (platform.key, PLATFORM, {}),
        (home.key, dark, {"color_scheme": "dark"}),
        (home.key, phone, {"viewport": NARROW}),
    ]


async def lived_in(served: Served, home: Home) -> dict[str, str]:
    """A tenant whose jobs have run for a while."""
    scene = Scene(served, home)
    made = await set_up(served, home) | await runs_and_causes(scene)
    made["certificate"] = await certified_days(scene)
    await query(served.store.cells[0], A_DAY, home.tenant.id, scene.now)
    more = {"keys": [f"product-{number:03}" for number in range(12, 80)], "at_once": True}
    await home.ask("PUT", "/jobs/STOCK/subjects", more)
    done = lambda told: sum(one["last_success_at"] is not None for one in told["items"]) >= 70  # noqa: E731
    await scene.when("/jobs/STOCK/subjects?limit=200", done)
    for cell in served.store.cells:
        await query(cell, OF_AGE, scene.now)
        await query(cell, A_MONTH, home.tenant.id, scene.now)
    await home.ask("POST", "/intakes/changes/pause")
    await scene.when("/intakes/changes", lambda one: one["position"] is not None)
    own = served.store.cell(shard_in(home.tenant.id))
    await query(own, TAKEN, home.tenant.id, scene.now - timedelta(minutes=2))
    await query(served.store, RESOLVED, home.tenant.id, scene.now)
    for _ in range(12):
        await scene.ended(await scene.trigger("coupon_job"))
    await at_queues(scene)
    since, until = scene.now - timedelta(hours=2), scene.now - timedelta(minutes=1)
    range_ = {"since": since.isoformat(), "until": until.isoformat()}
    begun = await home.ask("POST", "/jobs/coupon_job/backfill", range_, **{"Idempotency-Key": "pictures"})
    await scene.when(f"/backfills/{begun['id']}", lambda one: one["status"] == "DONE" and not one["waiting"], 120)
    return made


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
    """A picture of each of these pages."""
    async with profile(browser, language, **wishes) as context:
        desk = Desk(await context.new_page(), served, Words(language))
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
