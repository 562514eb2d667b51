"""A thousand secrets go through everything that can go wrong, and are found in clear nowhere but at their target."""

import asyncio
import os
import re
import subprocess
import time

import pytest

from horae.domain.targets.breaker import MAX_PROBE_WAIT_S
from horae.security.roles import Role
from tests.boot.fleet import a_fleet, until
from tests.boot.hook import hooked
from tests.cluster import BIN
from tests.keyring import keyring
from tests.steps import query

TASKS, RUNS, JOBS, SECRETS = 600, 100, 50, 200
PATIENCE = MAX_PROBE_WAIT_S + 15
LEFT = "select job_id, state, lane, count(*), min(due_at), max(attempt) from instance_live group by 1, 2, 3"
ENDED = "select state, error_code, count(*) from instance_history group by 1, 2"
CANARY = re.compile(r"canary[0-9]{5}x[0-9a-f]{16}")


class Canaries:
    """Numbered texts that nobody could guess."""

    def __init__(self) -> None:
        self.all: list[str] = []

    def new(self) -> str:
        self.all.append(f"canary{len(self.all):05}x{os.urandom(8).hex()}")
        return self.all[-1]


def found_in(text: str) -> list[str]:
    return CANARY.findall(text)[:5]


async def ask(client, method, path, body, *expected, **headers):
    answer = await client.request(method, path, json=body, headers=headers)
    assert answer.status_code in expected, (method, path, answer.status_code, answer.text[:500])
    return answer


@pytest.mark.timeout(300)
async def test_a_thousand_canaries_are_found_nowhere_in_clear(ctx, store, cells, tmp_path):
    birds = Canaries()
    with hooked(echo=True) as hook:  # the target repeats whatever it is sent, with what proves who we are
        hook.statuses = {"/bad": [400] * 10_000, "/flaky": [500, 503, 429] * 3, "/run": [200, 400, 500] * 40}
        async with a_fleet(ctx, cells, tmp_path, keyring()) as fleet:
            await until("a node holds the shards", lambda: holds_all(store))
            said = await everything_goes_wrong(fleet.admin, birds, hook)
            await most_arrive(hook, fleet, store)
            worker_said = await by_a_worker(fleet.admin, birds)
            said += (await fleet.admin.get("/audit?limit=200")).text
            logs = fleet.logs()
        dumps = "".join(dump_of(cell.dsn) for cell in cells)
    assert len(birds.all) >= 1000
    arrived = str(hook.payloads)
    assert sum(bird in arrived for bird in birds.all) >= (TASKS + RUNS) * 9 // 10  # they really went through
    assert {"SUCCESS", "DEAD"} <= {row["state"] for row in await query(store, "select state from instance_history")}
    for where in (said, logs, worker_said, dumps):
        assert found_in(where) == []
    assert "$sealed" in dumps
    assert "instance_history" in dumps


async def most_arrive(hook, fleet, store) -> None:
    """Until nearly all were sent. No breaker waits longer than half a minute: a node silent for more has stalled."""
    began = progressed = time.monotonic()
    seen = 0
    while len(hook.payloads) < (TASKS + RUNS) * 9 // 10:
        if sum(hook.paths.values()) > seen:
            seen, progressed = sum(hook.paths.values()), time.monotonic()
        now = time.monotonic()
        if now - progressed > PATIENCE or now - began > 200 or not fleet.node.running:
            facts = f"{len(hook.payloads)} payloads, calls {dict(hook.paths)}, exit code {fleet.node.exit_code}"
            rows = "\n".join(map(str, [*await query(store, LEFT), *await query(store, ENDED)]))
            pytest.fail(f"after {now - began:.0f} s nothing comes any more: {facts}\n{rows}\n{fleet.logs()}")
        await asyncio.sleep(0.05)


async def holds_all(store) -> bool:
    return not await query(store, "select from shard where state = 'ACTIVE' and owner is null limit 1")


async def everything_goes_wrong(admin, birds, hook) -> str:
    """Definitions, runs, tasks, secrets, refusals. Returns what was said about them, but for what was asked back."""
    said = [(await ask(admin, "PUT", f"/secrets/s{n}", {"value": birds.new()}, 200)).text for n in range(SECRETS)]
    for n in range(JOBS):
        target = {"kind": "http", "url": f"{hook.url}/run", "auth": {"kind": "bearer", "token": f"s{n}"}}
        target |= {"headers": {"X-Api-Key": birds.new()}, "query": {"q": birds.new()}}
        body = {"name": f"run{n}", "payload": {"secret": birds.new()}, "target": target, "retry": {"max_failures": 2}}
        await ask(admin, "POST", "/jobs", body, 201, **{"Idempotency-Key": f"job{n}"})
    for n in range(RUNS):
        key = {"Idempotency-Key": f"key{n}"}
        body, other = {"payload": {"run": birds.new()}}, {"payload": birds.new()}
        said.append((await ask(admin, "POST", f"/jobs/run{n % JOBS}/trigger", body, 200, 201, 202, **key)).text)
        said.append((await ask(admin, "POST", f"/jobs/run{n % JOBS}/trigger", other, 409, **key)).text)
    for kind in ("good", "flaky", "bad"):
        target = {"kind": "http", "url": f"{hook.url}/{kind}", "auth": {"kind": "bearer", "token": "s0"}}
        await ask(admin, "POST", "/jobs", {"name": kind, "trigger": {"kind": "keyed"}, "target": target}, 201)
        tasks = [{"key": str(n), "payload": {"n": birds.new()}} for n in range(TASKS // 3)]
        put = await ask(admin, "PUT", f"/tasks/{kind}", {"tasks": tasks}, 200)
        assert not [item for item in put.json()["items"] if "problem" in item], kind
        said.append(put.text)
    for method, path, body in (
        ("POST", "/jobs", {"name": "x/y", "payload": birds.new()}),
        ("POST", "/jobs", {"name": "bad", "payload": birds.new(), "cron": "not a cron"}),
        ("PUT", "/tasks/nothing/1", {"payload": birds.new()}),
        ("PUT", "/tasks/good/1", {"payload": [birds.new()] * 9000}),
        ("PUT", "/tasks/good/1", {"payload": birds.new(), "at": "yesterday"}),
        ("PUT", "/secrets/bad name", {"value": birds.new()}),
        ("PUT", "/secrets/s1", {"value": [birds.new()]}),
        ("PUT", "/secrets/s1", {"value": birds.new(), "more": birds.new()}),
        ("POST", "/jobs/run0/trigger", {"payload": birds.new()}),
    ):
        answer = await admin.request(method, path, json=body)
        assert 400 <= answer.status_code < 500, (path, answer.text)
        said.append(answer.text)
    return "\n".join(said)


async def by_a_worker(admin, birds) -> str:
    """Payloads handed to a worker that fails; its own words are kept as it says them."""
    await ask(admin, "POST", "/jobs", {"name": "pull", "trigger": {"kind": "keyed"}}, 201)
    await ask(admin, "PUT", "/tasks/pull/1", {"payload": birds.new()}, 200, 201)
    key = (await ask(admin, "POST", "/keys", {"name": "w", "roles": [Role.WORKER]}, 201)).json()["key"]
    own = {"Authorization": f"Bearer {key}"}
    handed = []

    async def poll() -> bool:  # the type's copy may still be on its way to the task's cell
        asked = {"queue": "pull", "worker_id": "w"}
        handed.extend((await ask(admin, "POST", "/workers/poll", asked, 200, **own)).json()["items"])
        return bool(handed)

    await until("the task is handed out", poll)
    [held] = handed
    assert held["payload"] in birds.all
    item = {name: held[name] for name in ("instance_id", "attempt", "token")}
    failed = {"items": [item | {"message": "no", "retryable": False}]}
    return (await ask(admin, "POST", "/workers/fail", failed, 200, **own)).text


def dump_of(dsn: str) -> str:
    return subprocess.run([BIN / "pg_dump", dsn], check=True, capture_output=True, text=True, timeout=120).stdout
