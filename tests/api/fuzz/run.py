"""One run: a world whose ids the fuzzer knows, the doors in a process of their own, schemathesis in another."""

import asyncio
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import httpx2

from horae.domain.ids import Prefix, public
from horae.domain.tenants.tenants import SYSTEM
from horae.runtime.settings import CellSettings
from horae.security.roles import Role
from horae.service.context import Context
from horae.service.identity import api_keys
from horae.store.store import Store
from tests.api.api_servers import Door, hold_every_shard, open_doors
from tests.api.world import World, a_world

ROOT = Path(__file__).parents[3]
CONFIG = Path(__file__).parent / "schemathesis.toml"
PROGRAM = Path(sys.executable).parent / "schemathesis"
FREE = {"api_rate": "1e9", "api_burst": "1e9", "api_concurrency": "10000", "egress": '{"ports": ["1"]}'}
"""No limits, and no calls to anybody: test requests are real."""
COUNTED = re.compile(
    r'^horae_api_requests_total\{method="(\w+)",route="([^"]+)",status="(\d+)"\} ([\d.e+]+)$', re.MULTILINE
)


class Lenient(Door):
    """A door that never tires of bad credentials."""

    program = (sys.executable, "-m", "tests.api.fuzz.door")


class Size(NamedTuple):
    """Tries of each operation, seconds of sequences, and the least number of requests: both go on in turn until then.

    `brief`: without the boundaries of every schema, which are most of the requests.
    """

    tries: int
    seconds: int
    least: int
    seed: int = 7
    brief: bool = False

    def config(self) -> str:
        """In the words of schemathesis."""
        return f"\n[phases.fuzzing.generation]\nmax-examples = {self.tries}\n"

    def first(self) -> list[str]:
        """Examples, every boundary of every schema unless brief, and tries with right and wrong data."""
        return ["--seed", str(self.seed), "--phases", "examples,fuzzing" if self.brief else "examples,coverage,fuzzing"]

    def further(self, number: int) -> list[str]:
        """Sequences that use what the answers before them told, then tries again; each pass begins somewhere else."""
        what = ["stateful", "--max-time", str(self.seconds)] if number % 2 else ["fuzzing"]
        return ["--seed", str(self.seed + number), "--phases", *what]


class Seen(NamedTuple):
    """What was answered, as the server counted it: by operation and status."""

    answers: Counter[tuple[str, int]]
    code: int
    passes: int
    said: str

    @property
    def statuses(self) -> Counter[int]:
        found: Counter[int] = Counter()
        for (_, status), many in self.answers.items():
            found[status] += many
        return found

    @property
    def operations(self) -> set[str]:
        return {name for name, status in self.answers if status != 405}

    @property
    def succeeded(self) -> set[str]:
        return {name for name, status in self.answers if 200 <= status < 300}


async def run(world: World, store: Store, cells: Sequence[CellSettings], folder: Path, size: Size) -> Seen:
    """All phases and all checks; what it said is in the folder, too."""
    made = await api_keys.create(Context.of(store, world.tenant, "test"), "fuzz", [Role.ADMIN, Role.WORKER])
    (folder / "schemathesis.toml").write_text(CONFIG.read_text() + size.config() + known(world))
    own = {
        "FUZZ_KEY": made.text,
        "FUZZ_KEY_ID": made.key.principal,
        "FUZZ_TENANT": SYSTEM,
        "FUZZ_TENANT_ID": public(Prefix.TENANT, world.tenant.id),
    }
    headers = {"Authorization": f"Bearer {made.text}"}
    async with (
        open_doors(1, folder, cells, Lenient, **FREE) as [door],
        httpx2.AsyncClient(headers=headers, timeout=60, base_url=f"http://127.0.0.1:{door.port}") as client,
    ):
        (folder / "openapi.json").write_text((await client.get("/openapi.json")).text)
        answers: Counter[tuple[str, int]] = Counter()
        code = passes = 0
        while code == 0 and (passes < 2 or answers.total() < size.least):
            options = size.further(passes) if passes else size.first()
            code = await _pass(folder, door.port, own, options)
            answers, passes = _counted((await client.get("/metrics")).text), passes + 1
    return Seen(answers, code, passes, (folder / "said").read_text(errors="replace"))


async def _pass(folder: Path, port: int, own: dict[str, str], options: list[str]) -> int:
    """One process of schemathesis; gives its exit code."""
    with (folder / "said").open("ab") as said:
        process = await asyncio.create_subprocess_exec(
            *(PROGRAM, "--config-file", "schemathesis.toml", "run", "openapi.json"),
            *("--url", f"http://127.0.0.1:{port}", *options),
            env=os.environ | own | {"PYTHONPATH": str(ROOT)},
            cwd=folder,
            stdout=said,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            return await process.wait()
        finally:
            if process.returncode is None:
                process.kill()


async def a_known_world(app, store: Store) -> World:
    """One of everything in the tenant that may also manage tenants."""
    await hold_every_shard(store)
    return await a_world(app, store, SYSTEM)


def known(world: World) -> str:
    """The ids that exist, as dictionaries: where an id is asked for, most of the time one of them is sent."""
    held = world.held
    values = {
        "path.job": [world.job, world.paused, world.http, world.queue],
        "query.job": [world.job, world.queue],
        "path.instance": [world.live, world.waiting, world.dead],
        "path.backfill": [world.backfill, world.paused_backfill],
        "path.group": [world.backfill_group],
        "path.key_id": [world.key],
        "path.principal": [world.key],
        "path.tenant": [world.victim, world.paused_victim],
        "path.calendar": [world.calendar],
        "path.type": [world.type],
        "path.type_name": [world.type],
        "path.key": ["article-42", "article-43"],
        "path.version": [1, 2],
        "query.before": [1, 2],
        "query.after": [1, 2],
        "body.queue": [world.queue],
        "body.job": [world.job],
        "body.cron": ["0 */5 * * * ?", "*/5 * * * *", "0 0 12 L * ?", "@daily", "H H * * *"],
        "body.trigger.expression": ["0 */5 * * * ?", "*/5 * * * *"],
        "body.timezone": ["UTC", "Asia/Shanghai", "America/New_York"],
        "body.target.url": ["https://127.0.0.1:9/", "https://example.com/hook"],
        "body.items[*].instance_id": [held["instance_id"], world.live, world.dead],
        "body.items[*].token": [held["token"]],
        "body.items[*].attempt": [held["attempt"]],
    }
    lines = []
    for number, (place, some) in enumerate(values.items()):
        lines.append(f"[dictionaries.known-{number}]\nvalues = {json.dumps(some)}\n")
        lines.append(f'[parameters."{place}"]\ndictionary = "known-{number}"\nprobability = 0.7\n')
    return "\n" + "\n".join(lines)


def _counted(metrics: str) -> Counter[tuple[str, int]]:
    found: Counter[tuple[str, int]] = Counter()
    for method, route, status, many in COUNTED.findall(metrics):
        found[f"{method} {route.replace(':path', '')}", int(status)] += int(float(many))
    return found
