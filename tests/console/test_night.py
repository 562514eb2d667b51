"""A night with five faults at once, as `horae dev --night` makes it: from each alert's message to cause and owner.

Each way begins at the link of the message and follows what a person sees: roles and accessible names alone. Its clicks
are counted.
"""

import os
import re
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
import pytest_asyncio
from playwright.async_api import Browser, Locator, Page, expect

from horae.boot.dev.night_jobs import CALENDAR, DOWN_JOB, HERD_TENANT, QUEUE_JOB, SILENCED_JOB
from horae.boot.drills.processes import ProcessRef, process, tree
from tests.boot.fleet import until
from tests.cluster import free_port
from tests.console.browser import LANGUAGES, Ears, profile
from tests.console.words import Words
from tests.system.children import Child

MAX_CLICKS = 4
SHARDS = 4096
BIN = Path(sys.executable).parent
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("HORAE_", "PG"))}
MESSAGE = re.compile(r"! .*? (\w+): (.*) (http://\S+/console/alerts/alr_\w+)$", re.MULTILINE)
TENANT_KINDS = {"dead_letter", "queue_unpolled", "no_success"}
PLATFORM_KINDS = {"node_stuck", "trigger_delay_p95"}
WAIT_S = 500.0
"""For the five messages, which takes half a minute where no neighbour is busy."""
PATIENCE_MS = 90_000
"""For a page: two nodes, a database and a browser are neighbours here."""
PATIENT = pytest.mark.timeout(600)


class Night:
    """The process, and what it has printed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.child = Child("night", folder / "night.log")

    @property
    def said(self) -> str:
        return self.child.log.read_text(errors="replace") if self.child.log.exists() else ""

    @property
    def links(self) -> dict[str, str]:
        """The links of the messages, by the kind of their alert."""
        return {kind: link for kind, _, link in MESSAGE.findall(self.said)}

    @property
    def url(self) -> str:
        return re.search(r"HORAE_URL=(\S+)", self.said)[1]  # type: ignore[index]

    @property
    def key(self) -> str:
        return re.search(r"HORAE_KEY=(\S+)", self.said)[1]  # type: ignore[index]

    @property
    def platform_key(self) -> str:
        return re.search(r"^  (horae_\S+)$", self.said, re.MULTILINE)[1]  # type: ignore[index]

    def start(self) -> None:
        place = {"HORAE_API_PORT": str(free_port()), "TMPDIR": str(self.folder), "PATH": f"{BIN}:{os.environ['PATH']}"}
        self.child.spawn([BIN / "horae", "dev", "--night"], CLEAN | place, dies_by="INT")

    async def is_complete(self) -> bool:
        """Whether each of the five faults has sent its message, and the herd is counted."""
        assert self.child.running, self.said
        if not self.links.keys() >= TENANT_KINDS | PLATFORM_KINDS:
            return False
        return HERD_TENANT in await self.reason(self.platform_key, "trigger_delay_p95")

    async def reason(self, key: str, kind: str) -> str:
        """The reason of the open alert of this kind."""
        [found] = (await self.ask(key, f"/alerts?state=OPEN&kind={kind}"))["items"]
        return str(found["reason"])

    def processes(self) -> list[ProcessRef]:
        """It and everything that it has started."""
        found, left = [], [process(self.child.pid)]
        while left:
            if (one := left.pop()) is not None:
                found.append(one)
                left += tree(one)[1:]
        return found

    async def ask(self, key: str, path: str) -> Any:
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=60) as client:
            answer = await client.get(f"{self.url}/api/v1{path}")
        assert answer.is_success, answer.text
        return answer.json()


@pytest.fixture(scope="module")
def night() -> Iterator[Night]:
    folder = Path(tempfile.mkdtemp(prefix="horae-night-"))
    folder.chmod(0o755)  # the user that PostgreSQL runs as goes through it
    night = Night(folder)
    night.start()
    try:
        yield night
    finally:
        night.child.signal(2)
        night.child.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


@pytest_asyncio.fixture(loop_scope="session")
async def broken(night: Night) -> Night:
    """The night when all five faults have sent their messages."""
    await until("each of the five faults has sent its message", night.is_complete, WAIT_S)
    return night


async def shows(found: Locator, text: str | re.Pattern[str]) -> None:
    """A part of the page has this text, at once or soon."""
    await expect(found).to_contain_text(text, timeout=PATIENCE_MS)


class OnCall:
    """Somebody who was called at night: opens the link of a message, and counts the clicks from there on."""

    def __init__(self, page: Page, night: Night, words: Words) -> None:
        self.page, self.night, self.words = page, night, words
        self.clicks = 0

    @property
    def main(self) -> Locator:
        return self.page.get_by_role("main")

    async def begin(self, kind: str) -> None:
        """Open the link of the message about an alert of this kind."""
        await self.page.goto(self.night.links[kind])
        self.clicks = 0
        await shows(self.main, self.words(f"alerts.meanings.{kind}"))

    async def click(self, found: Locator) -> None:
        await found.click()
        self.clicks += 1

    async def follow(self, name: str, place: Locator | None = None) -> None:
        """Click the link of this name, in the page or in a part of it."""
        await self.click((place or self.main).get_by_role("link", name=name, exact=True))

    async def look(self, place: str, **blanks: object) -> None:
        """Follow the link of an alert to the page that shows what it is about."""
        await self.follow(self.words(f"alerts.places.{place}", **blanks))

    async def reads(self, *texts: str) -> None:
        """The page shows these texts."""
        for text in texts:
            await shows(self.main, text)

    def row(self, *texts: str) -> Locator:
        """The row of a table with these texts."""
        found = self.main.get_by_role("row")
        for text in texts:
            found = found.filter(has_text=text)
        return found

    def arrived(self) -> None:
        """Cause and owner were read after few clicks."""
        assert self.clicks <= MAX_CLICKS


@asynccontextmanager
async def on_call(browser: Browser, night: Night, words: Words, key: str) -> AsyncIterator[OnCall]:
    async with profile(browser, words.language) as context:
        context.set_default_timeout(PATIENCE_MS)
        page = await context.new_page()
        ears = Ears(page)
        await page.goto(f"{night.url}/console/")
        field = page.get_by_role("textbox", name=words("login.key"))
        await field.fill(key)
        await field.press("Enter")
        await expect(page.get_by_role("banner")).to_be_visible(timeout=PATIENCE_MS)
        yield OnCall(page, night, words)
        ears.check()


@PATIENT
async def test_the_api_shows_the_five_faults(broken):
    night = broken
    open_alerts = (await night.ask(night.key, "/alerts?state=OPEN"))["items"]
    assert {one["kind"] for one in open_alerts} >= TENANT_KINDS
    owners = {one["kind"]: one["owner"] for one in open_alerts}
    assert (owners["dead_letter"], owners["no_success"]) == ("payments-team", "finance-team")
    [queue] = [one for one in (await night.ask(night.key, "/queues"))["items"] if one["name"] == QUEUE_JOB]
    assert queue["unattended"]
    letters = (await night.ask(night.key, f"/dead-letters?job={DOWN_JOB}"))["items"]
    assert {one["error_code"] for one in letters} == {"HTTP_5XX"}
    findings = (await night.ask(night.key, f"/jobs/{SILENCED_JOB}/explain"))["findings"]
    assert [one["facts"]["calendars"] for one in findings if one["code"] == "SKIPPED"] == [[CALENDAR]]

    open_alerts = (await night.ask(night.platform_key, "/alerts?state=OPEN"))["items"]
    assert {one["kind"] for one in open_alerts} >= PLATFORM_KINDS
    late = await night.reason(night.platform_key, "trigger_delay_p95")
    assert f"the tenant {HERD_TENANT} has far more fires than usual" in late
    nodes = (await night.ask(night.platform_key, "/nodes"))["nodes"]
    assert sorted((one["alive"], one["shards"]) for one in nodes) == [(False, 0), (True, SHARDS)]
    causes = (await night.ask(night.platform_key, "/scheduler/health"))["delayCauses"]
    [herd] = [one for one in causes if one["kind"] == "TENANT_HERD"]
    assert herd["subject"] == HERD_TENANT


@PATIENT
@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_team_of_a_tenant_finds_cause_and_owner_in_four_clicks(broken, browser, words):
    async with on_call(browser, broken, words, broken.key) as person:
        await person.begin("dead_letter")
        await person.reads(DOWN_JOB, "payments-team")
        await person.look("deadLetters", job=DOWN_JOB)
        await shows(person.row(DOWN_JOB, "HTTP_5XX").first, "503")
        person.arrived()

        await person.begin("queue_unpolled")
        await person.look("workers")
        row = person.row(QUEUE_JOB, words("workers.queues.unattended"))
        await person.click(row.get_by_role("cell").last.get_by_role("link", name=QUEUE_JOB, exact=True))
        await person.reads(QUEUE_JOB, "warehouse-team")
        person.arrived()

        await person.begin("no_success")
        await person.reads("finance-team")
        await person.follow(SILENCED_JOB)
        await person.click(person.main.get_by_role("button", name=words("frame.why.verb")))
        await shows(person.page.get_by_role("dialog"), CALENDAR)
        person.arrived()


@PATIENT
@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_operators_of_the_platform_find_cause_and_owner_in_four_clicks(broken, browser, words):
    async with on_call(browser, broken, words, broken.platform_key) as person:
        await person.begin("node_stuck")
        await person.reads(words("alerts.facts.operators"))
        await person.look("cluster")
        await shows(person.row(words("overview.cluster.gone")), "nod_")
        await shows(person.row(words("overview.cluster.alive")), f"{SHARDS:,}")
        person.arrived()

        await person.begin("trigger_delay_p95")
        await person.reads(HERD_TENANT, words("alerts.facts.operators"))
        await person.look("overview")
        herd = person.main.get_by_role("listitem").filter(has_text=HERD_TENANT)
        await shows(herd, words.containing("overview.delayCauses.TENANT_HERD", subject=HERD_TENANT))
        await person.follow(words("overview.delayCauses.tenant", subject=HERD_TENANT), herd)
        await shows(person.page.get_by_role("heading", level=1), HERD_TENANT)
        person.arrived()


@PATIENT
async def test_it_ends_with_all_that_it_has_started(broken):
    night = broken
    started = night.processes()
    assert len(started) > 2, "it, PostgreSQL and the frozen node"
    night.child.signal(2)
    assert await night.child.ended() == 0, night.said[-2000:]
    assert [one.pid for one in started if one.runs] == []
    assert not list(night.folder.glob("horae-dev-*"))
