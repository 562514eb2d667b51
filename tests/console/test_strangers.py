"""What others wrote is text, wherever it is shown: names, labels, keys, payloads, answers, errors, addresses."""

from datetime import timedelta
from urllib.parse import quote

import pytest
from playwright.async_api import expect

from horae.domain.errors import BadRequest
from horae.security.roles import Role
from horae.service.identity import api_keys
from tests.console.browser import profile
from tests.console.certified_days import certified_days
from tests.console.desk import Desk
from tests.console.pages import PLATFORM, pages_of
from tests.console.runs import backfill_group, cause_of, ended_run, paced_replay
from tests.console.scene import QUICK, Scene
from tests.console.words import Words

PWN = "window.__pwned=(window.__pwned||0)+1"
NAMES = [
    f"<img src=x onerror={PWN}>",
    f"<svg onload={PWN}>",
    f'"onmouseover={PWN} x="',
    "{{constructor.constructor(1)}}",
]
TEXTS = [
    f"<script>{PWN}</script>",
    f"</pre></code><img src=x onerror={PWN}>",
    f"<iframe srcdoc='<script>parent.{PWN}</script>'></iframe>",
    f"javascript:{PWN}",
    f"<a href=javascript:{PWN}>x</a>",
    f"<style onload={PWN}></style><details open ontoggle={PWN}>",
    f"${{{PWN}}}`{PWN}`",
    f"]]><math><mtext></mtext><img src=x onerror={PWN}></math>",
]
EVIL = "".join(TEXTS)
HOOK = {"kind": "webhook", "url": "https://example.com/" + quote(EVIL[:200]), "signing": "none"}
NINE = "2035-01-01T09:00:00Z"


async def write_everywhere(served, home) -> dict[str, str]:
    """The corpus in every field that takes a text; gives pages that show it."""
    scene = Scene(served, home)
    await scene.alert_channel()
    await home.ask("PUT", "/calendars/" + quote(NAMES[1], safe=""), {"first": "2020-01-01", "last": "2060-12-31"})
    for number, name in enumerate(NAMES):
        await scene.job(
            name,
            cron="0 */5 * * * ?" if number % 2 else "*/5 * * * *",
            labels={"a": TEXTS[number % len(TEXTS)][:63]},
            owner=TEXTS[number % len(TEXTS)][:128],
            payload={EVIL: TEXTS},
            policies={"calendars": [{"calendar": NAMES[1], "mode": "exclude"}]},
            target={
                "kind": "http",
                "url": "https://example.com/" + quote(EVIL[:200]),
                "headers": {"X-Evil": EVIL[:300]},
            },
        )
    kind = NAMES[0] + "type"
    await scene.type(kind)
    await scene.put(quote(kind), quote(EVIL[:190], safe=""), scene.now + timedelta(hours=1), payload={"x": EVIL})
    bad = await scene.job("answers", retry=QUICK, owner=TEXTS[0][:128], labels={"a": TEXTS[1][:63]})
    path = "/" + bad["target"]["url"].rpartition("/")[2]
    served.receiver.bodies[path] = EVIL.encode()
    await scene.fails(bad, 400)
    dead = await scene.trigger("answers", {"x": EVIL})
    await scene.ended(dead)
    await api_keys.create(home.ctx, NAMES[0], [Role.VIEWER])
    await home.ask("PUT", "/role-bindings/" + quote(f"group:{NAMES[0]}", safe=""), {"roles": ["viewer"]})
    await home.ask("PUT", f"/sources/{quote(kind)}", {"origin": {"kind": "push"}})
    page = {"round": EVIL[:100], "items": [{"key": EVIL[:190], "at": NINE}], "last": True}
    await home.ask("POST", f"/sources/{quote(kind)}/pages", page)
    await scene.job(NAMES[1] + "set", trigger={"kind": "rolling", "window": 60, "every": 60, "anchor": NINE})
    subjects = f"/jobs/{quote(NAMES[1] + 'set', safe='')}"
    await home.ask("PUT", f"{subjects}/subjects", {"keys": [EVIL[:190], *NAMES]})
    topic = {"kind": "topic", "broker": "main", "topic": "evil"}
    await home.ask("PUT", "/intakes/evil", {"source": topic, "types": NAMES})
    await scene.parks("evil", EVIL.encode(), BadRequest(EVIL[:300]))
    await home.ask("PUT", "/subscriptions/evil", {"sink": HOOK, "labels": {"a": EVIL[:60]}})
    silence = {"starts_at": NINE, "ends_at": "2035-01-02T09:00:00Z", "job": NAMES[0], "comment": EVIL[:500]}
    await home.ask("PUT", "/silences/evil", silence | {"labels": {"a": TEXTS[1]}, "owner": TEXTS[2][:128]})
    await home.ask("PUT", "/alert-rules/evil", {"kind": "late", "job": NAMES[2], "owner": EVIL[:128]})
    alert = await scene.alert("answers")
    run = await ended_run(scene, NAMES[2] + "run", *TEXTS, EVIL, *NAMES, result={EVIL: TEXTS, "names": NAMES})
    cause = await cause_of(scene, "answers")
    await home.ask("POST", "/dead-letters/tag", {"job": "answers", "add": NAMES})
    group = await backfill_group(scene, prefix=NAMES[1], owner=None)
    made = {
        "run": run,
        "cause": f"/dead-letters/causes/{cause}",
        "replay": await paced_replay(scene, tag=EVIL[:120], limit=1),
        "backfill-group": group,
        "alert": f"/alerts/{alert['id']}",
        "certificate": await certified_days(scene, NAMES[0], EVIL[:300]),
        "calendar": f"/calendars/{quote(NAMES[1], safe='')}",
        "subjects": f"{subjects}?view=subjects",
        "source": f"/sources/{quote(kind, safe='')}",
        "instance": f"/instances/{dead}",
        "task": f"/tasks/{quote(kind, safe='')}/{quote(EVIL[:190], safe='')}",
    }
    return made | {f"job {number}": f"/jobs/{quote(name, safe='')}" for number, name in enumerate(NAMES)}


@pytest.mark.parametrize("language", ["en"])
async def test_nothing_that_others_wrote_is_ever_executed(served, browser, language):
    home = await served.home(name=NAMES[0][:50] + "t")
    made = await write_everywhere(served, home)
    reflected = {
        "filter": f"/instances?key={quote(EVIL[:400])}&job={quote(NAMES[0])}",
        "search": f"/jobs?prefix={quote(NAMES[0])}&label={quote('a=' + TEXTS[0][:60])}",
        "unknown task": f"/tasks/{quote(NAMES[1], safe='')}/{quote(TEXTS[1], safe='')}",
        "nowhere": f"/{quote(EVIL[:300], safe='')}",
        "alerts": f"/alerts?job={quote(EVIL[:100])}",
        "unknown alert": f"/alerts/{quote(NAMES[0], safe='')}",
        "references": f"/secrets?name={quote(EVIL[:190])}",
        "audit": f"/audit?actor={quote(EVIL[:190])}",
    }
    async with profile(browser, language) as context:
        desk = Desk(await context.new_page(), served, Words(language))
        await desk.page.add_init_script("window.__pwned = 0")
        await desk.log_in(home.key)
        seen = 0
        for name, path in (pages_of(made) | made | reflected).items():
            await desk.open(path)
            assert await desk.page.evaluate("window.__pwned") == 0, name
            seen += await desk.page.get_by_text("onerror=", exact=False).count()
        assert seen > 10, "it is shown, as text"
        await desk.open(made["instance"])
        await expect(desk.page.get_by_text(TEXTS[0], exact=False).first).to_be_visible()
        await desk.open(made["run"])
        await expect(desk.page.get_by_role("log")).to_contain_text(EVIL)
        await expect(desk.page.locator("#result")).to_contain_text(TEXTS[0])
        await desk.open(made["cause"])
        await desk.page.get_by_text(desk.words("triage.samples.show")).first.click()
        await expect(desk.page.locator("td .json")).to_contain_text(TEXTS[0])
        assert await desk.page.evaluate("window.__pwned") == 0
        desk.ears.check()
        platform = await served.platform()
        await desk.log_out()
        await desk.log_in(platform.key)
        for name, path in PLATFORM.items():
            await desk.open(path)
            assert await desk.page.evaluate("window.__pwned") == 0, name
        desk.ears.check()
