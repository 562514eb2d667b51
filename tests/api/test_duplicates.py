"""The same request, thousands of times at once, in several processes, some of which are killed on the way."""

import asyncio
import random
from collections import Counter, defaultdict, deque

import pytest

from horae.security.roles import Role
from tests.api.api_servers import hold_every_shard, open_doors
from tests.api.wire import Wire
from tests.steps import query, until
from tests.store.walls import as_role

KEYS, CLIENTS = 20, 200
LOST = (OSError, EOFError, TimeoutError)
HTTP = {"kind": "http", "url": "https://example.com/hook"}


class Storm:
    """Clients that ask until they are answered; who answers what is kept."""

    def __init__(self, ports, key, wishes):
        self.ports, self.key = ports, key
        self.left = deque(wishes)
        self.seen = Counter()
        self.ids = defaultdict(set)
        self.dice = random.Random(7)

    async def rage(self):
        await asyncio.gather(*(self._client() for _ in range(CLIENTS)))

    async def _client(self):
        wires = {port: Wire(port, self.key) for port in self.ports}
        while self.left:
            await self._insist(wires, *self.left.popleft())
        for wire in wires.values():
            wire.hang_up()

    async def _insist(self, wires, path, body, key):
        while True:
            try:
                answer = await wires[self.dice.choice(self.ports)].ask("POST", path, body, Idempotency_Key=key)
            except LOST:
                self.seen["lost"] += 1
                await asyncio.sleep(0.01)
                continue
            if answer.status in {201, 202}:
                self.seen["answered"] += 1
                self.seen["replayed"] += "idempotency-replayed" in answer.headers
                self.ids[key].add(answer.body.get("instance_id") or answer.body["id"])
                return
            self.seen[f"{answer.status} {answer.code}"] += 1
            if answer.code == "SCH_409_DUPLICATE" and "in flight" in answer.body["detail"]:
                return
            assert answer.status == 503, answer
            await asyncio.sleep(0.05)


def _wishes(many, dice):
    """Half of the keys make jobs, half trigger one."""
    each = many // KEYS
    found = [("/api/v1/jobs", {"name": f"job-{n}", "cron": "0 0 1 1 *"}, f"new-{n}") for n in range(KEYS // 2)]
    found += [("/api/v1/jobs/base/trigger", {"payload": {"n": n}}, f"run-{n}") for n in range(KEYS // 2)]
    found *= each
    dice.shuffle(found)
    return found


@pytest.mark.timeout(600)
@pytest.mark.parametrize("many", [2000, pytest.param(10_000, marks=pytest.mark.long)])
async def test_duplicates_over_four_processes_of_which_two_are_killed_have_one_effect(
    many, admin, key, cells, store, tmp_path, record_property
):
    await hold_every_shard(store)
    assert (await admin.post("/jobs", json={"name": "base", "target": HTTP})).status_code == 201
    text = await key(Role.EDITOR, Role.OPERATOR)
    generous = {"api_rate": "1000000", "api_burst": "1000000", "api_concurrency": "10000"}
    async with open_doors(4, tmp_path, as_role(cells, "horae_api"), **generous) as doors:
        storm = Storm([door.port for door in doors], text, _wishes(many, random.Random(1)))
        raging = asyncio.create_task(storm.rage())
        for part, door in zip((4, 2), doors[:2], strict=True):
            await until(lambda part=part: raging.done() or storm.seen["answered"] > many // part / 2, 300)
            assert not raging.done(), raging
            door.kill()
        await raging
    record_property("requests", many)
    for what, times in storm.seen.items():
        record_property(what, times)
    assert storm.seen["lost"] > 0
    assert storm.seen["answered"] + sum(n for what, n in storm.seen.items() if what.startswith("409")) == many
    await _check_effects(store, storm)


async def _check_effects(store, storm):
    assert len(storm.ids) == KEYS
    assert {len(ids) for ids in storm.ids.values()} == {1}
    half = KEYS // 2
    for what, effects in {
        "select from job where name <> 'base'": half,
        "select from job_cursor": half,
        "select from instance_live": half,
        "select from instance_history": 0,
        "select from audit_log where action = 'job.created'": half + 1,
        "select from audit_log where action = 'instance.triggered'": half,
        "select from idempotency where resource = ''": half,  # a key whose body names the job is bound to that body
        "select from idempotency where resource <> ''": KEYS,
        "select from idempotency where resource <> '' and answer is null": 0,
    }.items():
        assert len(await query(store, what)) == effects, what
