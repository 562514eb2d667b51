"""Runs of a worker: it claims, logs lines, says how far it is, and finishes with a result."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

from tests.console.scene import Scene


class Run:
    """A claimed attempt, as its worker sees it."""

    def __init__(self, scene: Scene, claimed: dict[str, Any]) -> None:
        self.scene = scene
        self.instance = str(claimed["instance_id"])
        self._token = {name: claimed[name] for name in ("instance_id", "attempt", "token")}
        self._first = 0

    async def log(self, *texts: str, level: str = "info") -> None:
        """Log lines."""
        at = self.scene.now.isoformat()
        lines = [{"at": at, "text": text, "level": level} for text in texts]
        await self._send("logs", {"first": self._first, "lines": lines})
        self._first += len(texts)

    async def progress(self, percent: float, text: str) -> None:
        """Say how far it is, and keep the claim for a minute."""
        await self._send("heartbeat", {"seconds": 60, "progress": {"percent": percent, "text": text}})

    async def finish(self, result: Any = None) -> None:
        """Report success."""
        await self._send("finish", {} if result is None else {"result": result})

    async def _send(self, verb: str, facts: dict[str, Any]) -> None:
        answer = await self.scene.home.ask("POST", f"/workers/{verb}", {"items": [self._token | facts]})
        assert all(item.get("verdict", "done") == "done" for item in answer["items"]), answer


async def claimed_run(scene: Scene, name: str) -> Run:
    """A run of a new queue, claimed by a worker."""
    await scene.queue(name)
    await scene.trigger(name)
    poll = {"queue": name, "worker_id": "host-1/4711", "limit": 1, "wait": 20}
    [claimed] = (await scene.home.ask("POST", "/workers/poll", poll))["items"]
    return Run(scene, claimed)


async def ended_run(scene: Scene, name: str, *texts: str, result: Any) -> str:
    """A run that logged and returned something; gives its page."""
    run = await claimed_run(scene, name)
    await run.progress(60, texts[-1][:200])
    await run.log(*texts)
    await run.log(texts[0], level="error")
    await run.finish(result)
    await scene.ended(run.instance)
    return f"/instances/{run.instance}"


async def cause_of(scene: Scene, job: str) -> str:
    """The id of the only failure cause of a job, as soon as a node has found it for all of its dead letters."""
    page = await scene.when(f"/failure-causes?job={job}", lambda page: page["items"] and not page["unsorted"])
    return str(page["items"][0]["cause"])


async def paced_replay(scene: Scene, **facts: Any) -> str:
    """A paced replay that has ended; gives its page."""
    key = {"Idempotency-Key": uuid4().hex}
    replay = await scene.home.ask("POST", "/paced-replays", facts, **key)
    await scene.when(f"/paced-replays/{replay['id']}", lambda one: one["ended_at"])
    return f"/dead-letters/replays/{replay['id']}"


async def backfill_group(scene: Scene, **chosen: Any) -> str:
    """A backfill group over a quarter of an hour; gives its page."""
    since, until = scene.now - timedelta(minutes=30), scene.now - timedelta(minutes=15)
    range_ = {"since": since.isoformat(), "until": until.isoformat()}
    key = {"Idempotency-Key": uuid4().hex}
    group = await scene.home.ask("POST", "/backfill-groups", range_ | chosen, **key)
    assert any(item["backfill"] for item in group["items"]), group
    return f"/backfill-groups/{group['id']}"


async def runs_and_causes(scene: Scene) -> dict[str, str]:
    """A run with a log and a result, a cause, a paced replay and a backfill group; gives their pages."""
    lines = [f"page {number} of 40: 250 prices" for number in range(1, 41)]
    run = await ended_run(scene, "import_prices", *lines, result={"prices": 10_000, "changed": 312})
    await scene.dead_letters("invoice_mail", 3, 503)
    cause = await cause_of(scene, "invoice_mail")
    replay = await paced_replay(scene, job="invoice_mail", limit=2, canary=1)
    group = await backfill_group(scene, labels={"team": "growth"})
    return {"run": run, "cause": f"/dead-letters/causes/{cause}", "replay": replay, "backfill-group": group}
