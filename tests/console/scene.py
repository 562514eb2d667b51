"""A tenant with something of everything: what succeeded, failed, was moved, waits, was given up, and who did it."""

import asyncio
import time
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import msgspec

from horae.domain.errors import BadRequest, HoraeError, NotFound
from horae.service.events import intake_batches, intakes
from horae.service.events.intake_batches import IntakeMessage
from tests.console.serving import Home, Served
from tests.steps import query

LIVE = {"INIT", "BLOCKED", "RUNNING", "FAIL"}
SIGNING = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
QUICK = {"base": 0.05, "jitter_min": 0.0, "jitter_max": 0.01, "max_failures": 2}


class Scene:
    """Makes things in a tenant through its API, and waits for what becomes of them."""

    def __init__(self, served: Served, home: Home) -> None:
        self.served = served
        self.home = home

    @property
    def now(self) -> datetime:
        """The time of the cells."""
        return self.served.store.cells[0].clock.now()

    async def job(self, name: str, **facts: Any) -> dict[str, Any]:
        """A job that calls the receiver, by hand only unless it says when."""
        target = {"kind": "http", "url": f"{self.served.receiver.url}/{uuid4().hex[:6]}"}
        return await self.home.ask("POST", "/jobs", {"name": name, "target": target} | facts)

    async def queue(self, name: str, **facts: Any) -> dict[str, Any]:
        """A job that workers pull; with none it waits."""
        return await self.home.ask("POST", "/jobs", {"name": name} | facts)

    async def type(self, name: str, **facts: Any) -> dict[str, Any]:
        """A type of tasks."""
        return await self.job(name, **{"trigger": {"kind": "keyed"}} | facts)

    async def fails(self, job: dict[str, Any], *statuses: int) -> None:
        """The receiver answers the next calls of this job so."""
        self.served.receiver.answers["/" + job["target"]["url"].rpartition("/")[2]] = list(statuses)

    async def trigger(self, name: str, payload: Any = None) -> str:
        """Fire a job now; gives the instance's id."""
        body = None if payload is None else {"payload": payload}
        key, deadline = {"Idempotency-Key": uuid4().hex}, time.monotonic() + 60
        while time.monotonic() < deadline:
            answer = await self.home.api.request("POST", f"/jobs/{name}/trigger", json=body, headers=key)
            if answer.status_code != 503:
                break
            await asyncio.sleep(0.1)  # a test before us moved the clock, and the node takes its shards again
        assert answer.is_success, answer.text
        return str(answer.json()["instance_id"])

    async def ended(self, instance: str, seconds: float = 60.0) -> dict[str, Any]:
        """An instance when it has ended."""
        return await self.when(f"/instances/{instance}", lambda one: one["state"] not in LIVE, seconds)

    async def when(self, path: str, so: Any, seconds: float = 60.0) -> Any:
        """What the API says at a path, as soon as it says so."""
        deadline = time.monotonic() + seconds
        while True:
            told = await self.home.ask("GET", path)
            if so(told):
                return told
            assert time.monotonic() < deadline, (path, told)
            await asyncio.sleep(0.05)

    async def put(self, type_: str, key: str, at: datetime | None = None, **facts: Any) -> dict[str, Any]:
        """A time for a business key."""
        told = facts | ({} if at is None else {"at": at.isoformat()})
        return await self.home.ask("PUT", f"/tasks/{type_}/{key}", told)

    async def lists(self, path: str, items: dict[str, datetime]) -> str:
        """The business's own list of what should be pending, at a path of the receiver; gives its URL."""
        told = [{"key": key, "at": at.isoformat()} for key, at in sorted(items.items())]
        self.served.receiver.bodies[path] = msgspec.json.encode({"items": told, "next": None})
        return self.served.receiver.url + path

    async def round(self, type_: str, number: int) -> dict[str, Any]:
        """A source when the round of this number has ended."""
        return await self.when(
            f"/sources/{type_}", lambda one: (last := one["last"]) and last["number"] >= number and last["ended_at"]
        )

    async def parks(self, intake: str, body: bytes, error: HoraeError) -> None:
        """A message of an intake that nothing could be made of."""
        ctx = self.home.ctx
        await intake_batches.park(
            ctx, await intakes.find(ctx, intake), [(IntakeMessage(body, f"{intake}/0/{len(body)}"), error)]
        )

    async def dead_letters(self, name: str, many: int, status: int = 400, **facts: Any) -> list[str]:
        """A job whose calls are given up at once; gives the ids of their instances."""
        job = await self.job(name, retry=QUICK, **facts)
        await self.fails(job, *[status] * many * QUICK["max_failures"])  # type: ignore[operator]
        ids = [await self.trigger(name, {"order": number}) for number in range(many)]
        for one in ids:
            assert (await self.ended(one))["state"] == "DEAD"
        return ids

    async def alert_channel(self, name: str = "default") -> str:
        """An alert channel to the receiver; nodes watch for faults when this returns. Gives the path it calls."""
        path = f"/alerts-{uuid4().hex[:6]}"
        await self.home.ask("PUT", "/secrets/alert-signing", {"value": SIGNING})
        hook = {"kind": "webhook", "url": self.served.receiver.url + path, "signing": "alert-signing"}
        await self.home.ask("PUT", f"/alert-channels/{name}", {"channel": hook})
        cells = len(self.served.store.cells)
        deadline = time.monotonic() + 60
        while len(await query(self.served.store, "select xid from alert_position")) < cells:
            assert time.monotonic() < deadline, "no node watches for alerts"
            await asyncio.sleep(0.1)
        return path

    async def alert(self, job: str, kind: str = "dead_letter") -> dict[str, Any]:
        """The open alert about a job, as soon as a node has opened it and written its messages."""
        page = await self.when(f"/alerts?state=OPEN&job={job}&kind={kind}", lambda page: page["items"], 60)
        return await self.when(f"/alerts/{page['items'][0]['id']}", lambda alert: alert["messages"], 60)


async def alert_settings(scene: Scene) -> None:
    """Alert channels of several kinds, one of which is down, rules and a planned silence."""
    home = scene.home
    await scene.alert_channel()
    scene.served.receiver.answers["/slack"] = [503] * 1000
    await home.ask("PUT", "/secrets/slack-hook", {"value": f"{scene.served.receiver.url}/slack"})
    slack = {"kind": "slack", "url_secret": "slack-hook"}
    feishu = {"kind": "feishu", "url_secret": "feishu-hook", "signing": "feishu-signing", "language": "zh"}
    await home.ask("PUT", "/alert-channels/payments-oncall", {"channel": slack})
    await home.ask("PUT", "/alert-channels/growth-group", {"channel": feishu})
    fails = {"kind": "failures_in_a_row", "job": "settlement", "threshold": 2, "severity": "critical"}
    await home.ask("PUT", "/alert-rules/settlement", fails | {"channels": ["default", "payments-oncall"]})
    quiet = {"kind": "no_success", "labels": {"team": "growth"}, "threshold": 3600, "channels": ["growth-group"]}
    await home.ask("PUT", "/alert-rules/coupons", quiet)
    await home.ask("PUT", "/alert-rules/breakers", {"kind": "breaker_open", "enabled": False})
    night = scene.now.replace(hour=18, minute=0, second=0, microsecond=0) + timedelta(days=1)
    window = {"starts_at": night.isoformat(), "ends_at": (night + timedelta(hours=4)).isoformat()}
    about = {"labels": {"team": "finance"}, "kinds": ["late", "missed"], "comment": "database maintenance"}
    await home.ask("PUT", "/silences/maintenance", window | about)


async def an_alert(scene: Scene) -> str:
    """An alert that is acknowledged, and another that fires; gives the page of the one that fires."""
    await scene.home.ask("POST", f"/alerts/{(await scene.alert('refund_check'))['id']}/acknowledge")
    alert = await scene.alert("settlement", "failures_in_a_row")
    return f"/alerts/{alert['id']}"


async def a_source(scene: Scene) -> str:
    """A source whose first round repaired something, and whose dry run would repair more; gives its page."""
    type_, hour = "EXHIBITION_OPEN", timedelta(hours=1)
    at = scene.now.replace(microsecond=0) + 20 * hour
    await scene.type(type_)
    for number in (1, 2, 3):
        await scene.put(type_, f"exhibition-{number}", at)
    pending = {f"exhibition-{number}": at for number in range(1, 7)}
    origin = {"kind": "http", "url": await scene.lists("/exhibitions", pending)}
    await scene.home.ask("PUT", f"/sources/{type_}", {"origin": origin, "every": 600, "grace": 0, "orphans": "cancel"})
    await scene.round(type_, 1)
    more = pending | {"exhibition-2": at + hour, "exhibition-7": at + 2 * hour, "exhibition-8": at + 3 * hour}
    await scene.lists("/exhibitions", {key: at for key, at in more.items() if key != "exhibition-3"})
    await scene.home.ask("POST", f"/sources/{type_}/rounds", {"dry": True})
    await scene.round(type_, 2)
    return f"/sources/{type_}"


async def a_set(scene: Scene) -> str:
    """A rolling job some of whose subjects are fresh, and others wait for their tick; gives its page."""
    later = (scene.now + timedelta(hours=6)).isoformat()
    trigger = {"kind": "rolling", "window": 864_000, "every": 86_400, "budget": 14_400, "anchor": later}
    await scene.job("STOCK", trigger=trigger)
    at_once = {"keys": [f"product-{number:03}" for number in range(8)], "at_once": True}
    await scene.home.ask("PUT", "/jobs/STOCK/subjects", at_once)
    waiting = {"keys": [f"product-{number:03}" for number in range(8, 12)]}
    await scene.home.ask("PUT", "/jobs/STOCK/subjects", waiting)
    done = lambda page: sum(one["last_success_at"] is not None for one in page["items"]) == 8  # noqa: E731
    await scene.when("/jobs/STOCK/subjects", done)
    return "/jobs/STOCK?view=subjects"


async def a_channel(scene: Scene) -> None:
    """A subscription that is told of everything, an intake, and two messages of it that nothing could be made of."""
    home, name = scene.home, scene.home.tenant.name
    await home.ask("PUT", "/secrets/crm-events", {"value": SIGNING})
    sink = {"kind": "webhook", "url": f"{scene.served.receiver.url}/crm", "signing": "crm-events"}
    await home.ask("PUT", "/subscriptions/crm", {"sink": sink, "events": ["INSTANCE_*", "TASK_MOVED"]})
    topic = {"kind": "topic", "broker": "main", "topic": f"{name}.schedule-changes"}
    await home.ask("PUT", "/intakes/changes", {"source": topic, "types": ["ARTICLE_PUBLISH", "COUPON_SEND"]})
    soon = (scene.now + timedelta(hours=2)).isoformat()
    late = {"op": "schedule", "type": "COUPON_SEND", "key": "coupon-11", "version": 7, "at": soon}
    await scene.parks("changes", msgspec.json.encode(late), NotFound("there is no type 'COUPON_SEND'"))
    await scene.parks("changes", b"<order id='7'/>", BadRequest("no schedule change: JSON is malformed"))


async def a_calendar(scene: Scene) -> str:
    """Workdays with a holiday and a day that makes up for it, and a job that uses them; gives its page."""
    single = {"added": [f"{scene.now.year}-10-10"], "removed": [f"{scene.now.year}-10-01"]}
    known = {"first": "2020-01-01", "last": "2060-12-31", "weekdays": [1, 2, 3, 4, 5]}
    await scene.home.ask("PUT", "/calendars/workdays", known | single)
    policies = {"calendars": [{"calendar": "workdays"}]}
    await scene.job("invoice_run", cron="0 0 9 * * *", timezone="Asia/Shanghai", owner="finance", policies=policies)
    return "/calendars/workdays"


async def set_up(served: Served, home: Home) -> dict[str, str]:
    """Something on every page; gives the paths of pages that show one thing."""
    scene = Scene(served, home)
    await a_channel(scene)
    await alert_settings(scene)
    await scene.job("coupon_job", cron="0 */5 * * * ?", labels={"team": "growth"}, priority="critical")
    await scene.job("nightly_report", cron="0 0 2 * * *", timezone="Asia/Shanghai", labels={"team": "finance"})
    await scene.queue("thumbnails")
    await scene.type("ARTICLE_PUBLISH")
    done = await scene.trigger("coupon_job", {"campaign": "double eleven"})
    await scene.ended(done)
    people = {"owner": "payments", "runbook": "https://wiki.example.com/settlement", "labels": {"team": "finance"}}
    [dead, *_] = await scene.dead_letters("settlement", 2, 503, **people)
    await scene.dead_letters("refund_check", 1, 400)
    await scene.trigger("thumbnails")
    at = scene.now
    for minutes, version in ((30, 1), (90, 2), (60, 3)):
        await scene.put("ARTICLE_PUBLISH", "article-42", at + timedelta(minutes=minutes), version=version)
    await scene.put("ARTICLE_PUBLISH", "article-42", at + timedelta(minutes=5), version=2)
    await scene.put("ARTICLE_PUBLISH", "article-7")
    await scene.when("/tasks/ARTICLE_PUBLISH/article-7", lambda one: one["outcome"] == "SUCCESS")
    await scene.put("ARTICLE_PUBLISH", "article-7", at + timedelta(hours=1))
    single = {"instance": f"/instances/{dead}", "task": "/tasks/ARTICLE_PUBLISH/article-42"}
    lists = {"source": await a_source(scene), "subjects": await a_set(scene)}
    return single | lists | {"alert": await an_alert(scene), "calendar": await a_calendar(scene)}
