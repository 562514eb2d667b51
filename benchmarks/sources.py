"""A million business rows beside a million tasks with 100 differences: how long a round takes, in how much memory.

Two cells and the business's own database are on one server. What differs is exactly what may be repaired: 40 tasks are
missing, 30 have another time, 30 are orphans. A second round must find nothing.
"""

import asyncio
import gc
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import asyncpg
import uvloop

from benchmarks import psql
from benchmarks.measure import Bound, judged, own_cpu
from benchmarks.server import SETTINGS, Server, running
from horae.delivery.client import Client
from horae.delivery.push import Sender
from horae.delivery.secrets import secrets_in_memory
from horae.domain.ids import encode_id
from horae.domain.instances import idempotency_keys
from horae.domain.jobs.jobs import Definition, Job
from horae.domain.schedules.triggers import KeyedTrigger
from horae.domain.sources.sources import Orphans, Spec, SqlSource
from horae.domain.targets.egress import Egress
from horae.domain.targets.targets import HttpTarget
from horae.runtime.randomness import id_maker
from horae.runtime.settings import CellSettings
from horae.service.context import Context, PlatformContext
from horae.service.jobs import jobs
from horae.service.sources import sources
from horae.service.tenants import tenants
from horae.store import migrations
from horae.store.store import Store
from horae.upkeep.copies import Copier
from horae.upkeep.reconciler import Reconciler

ROWS, DIFFERENCES = 1_000_000, 100
MISSING, DRIFTED, ORPHANS = 40, 30, 30
SECONDS, MEGABYTES = 60.0, 256.0
BOUNDS = (
    Bound("exact", least=1),
    Bound("seconds", most=SECONDS),
    Bound("memory_mb", most=MEGABYTES),
    Bound("second.drift", most=0),
)
AT = datetime(2035, 1, 1, 9, tzinfo=UTC)
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
NEAR = Egress(networks=("127.0.0.0/8",), ports=("1-65535",), plain=True)
STATEMENT = "select id as key, publish_at as at from article where id > $1 order by id limit $2"
TABLE = 'create table article (id text collate "C" primary key, publish_at timestamptz not null)'
FILLED = """insert into article select 'article-' || to_char(n, 'FM00000000'), $1 from generate_series(1, $2::int) n"""
LIVE = (
    *("shard_id", "id", "tenant_id", "job_id", "job_version", "idem_key", "fire_time", "due_at", "changed_at"),
    *("priority", "lane", "slot_ms", "state", "business_key", "generation"),
)
LEDGER = ("shard_id", "job_id", "tenant_id", "instance_id", "business_key", "generation", "updated_at")


class Planted(NamedTuple):
    """Which keys differ, and how."""

    missing: list[str]
    drifted: list[str]
    orphans: list[str]

    @classmethod
    def of(cls, rows: int) -> "Planted":
        """Spread over all keys, the first and the last among them."""
        step = (rows - 1) / (DIFFERENCES - 1)
        chosen = [name(1 + round(n * step)) for n in range(DIFFERENCES)]
        return cls(chosen[0::5] + chosen[1::5], chosen[2::5] + chosen[3::10], chosen[4::5] + chosen[8::10])


def name(number: int) -> str:
    """The key of an article."""
    return f"article-{number:08}"


async def a_type(store: Store) -> tuple[Context, Job]:
    """A tenant with a type."""
    ctx = Context.of(store, await tenants.create(PlatformContext(store, "bench"), "bench", width=4096), "bench")
    definition = Definition(trigger=KeyedTrigger(), target=HttpTarget("http://127.0.0.1:9/"))
    job = await jobs.create(ctx, "PUBLISH", definition)
    await Copier(store).once()
    return ctx, job


async def fill(ctx: Context, job: Job, shop: "asyncpg.Connection[Any]", rows: int) -> Planted:
    """Both sides, with their differences."""
    planted = Planted.of(rows)
    await shop.execute(TABLE)
    await shop.execute(FILLED, AT, rows)
    await shop.execute(
        "update article set publish_at = $1 where id = any($2)", AT + timedelta(hours=1), planted.drifted
    )
    await shop.execute("delete from article where id = any($1)", planted.orphans)
    await shop.execute("analyze article")
    absent = frozenset(planted.missing)
    lines = [line for line in _lines(ctx, job, rows) if line[0][-2] not in absent]
    for cell in ctx.store.cells:
        here = frozenset(ctx.store.shards_of(cell))
        mine = [line for line in lines if line[0][0] in here]
        async with cell.direct(owner=True) as connection:
            await connection.copy_records_to_table("instance_live", records=[live for live, _ in mine], columns=LIVE)
            await connection.copy_records_to_table("task_key", records=[known for _, known in mine], columns=LEDGER)
    return planted


def _lines(ctx: Context, job: Job, rows: int) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...]]]:
    mint, own = id_maker(LONG_AGO), encode_id(job.id)
    for number in range(1, rows + 1):
        key = name(number)
        shard = ctx.tenant.shard(f"{job.name}/{key}")
        id_ = mint(shard)
        idem = idempotency_keys.task_key(own, key, 1)
        live = (shard, id_, ctx.tenant.id, job.id, 1, idem, AT, AT, LONG_AGO, 1, 0, 13_000, "INIT", key, 1)
        yield live, (shard, job.id, ctx.tenant.id, id_, key, 1, LONG_AGO)


async def reconcile(ctx: Context, shop_dsn: str) -> dict[str, Any]:
    """One round to its end: its seconds, its CPU, how much memory it took beyond what was there, what it did."""
    client = Client(NEAR)
    secrets = secrets_in_memory({ctx.tenant.id: {"shop": f"{shop_dsn}?sslmode=disable"}})
    reconciler = Reconciler(ctx.store, ctx.store.shards_of, Sender(client, secrets), NEAR)
    try:
        gc.collect()
        before, cpu, began = _forget_peak(), own_cpu(), time.monotonic()
        portions = 0
        while await reconciler.once():
            portions += 1
        took, peak = time.monotonic() - began, _peak()
    finally:
        await client.close()
    counts = (await sources.rounds(ctx, "PUBLISH", limit=1))[0].counts
    return {
        "seconds": round(took, 2),
        "client_cpu_s": round(own_cpu() - cpu, 2),
        "memory_mb": round((peak - before) / 1024, 1),
        "portions": portions,
        "rows": counts.rows,
        "living": counts.living,
        "repaired": {"created": counts.created, "moved": counts.moved, "cancelled": counts.cancelled},
        "drift": counts.drift,
    }


async def whole(ctx: Context, planted: Planted, shop_dsn: str) -> dict[str, Any]:
    """A round that repairs, and one that finds nothing; what was repaired is what was planted."""
    await sources.put(ctx, "PUBLISH", Spec(SqlSource("shop", STATEMENT), orphans=Orphans.CANCEL))
    first = await reconcile(ctx, shop_dsn)
    found: Counter[tuple[str, str]] = Counter()
    for cell in ctx.store.cells:
        async with cell.direct() as connection:
            for row in await connection.fetch("select found, business_key from source_repair"):
                found[row["found"], row["business_key"]] += 1
    wanted = Counter(
        [("missing", key) for key in planted.missing]
        + [("drifted", key) for key in planted.drifted]
        + [("orphan", key) for key in planted.orphans]
    )
    await sources.request_round(ctx, "PUBLISH", dry=False)
    second = await reconcile(ctx, shop_dsn)
    return first | {"exact": found == wanted, "second": {name: second[name] for name in ("seconds", "drift", "rows")}}


def _peak() -> int:
    """The most memory this process had, in kB, since it was last forgotten."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0])


def _forget_peak() -> int:
    Path("/proc/self/clear_refs").write_text("5")
    return _peak()


async def _run(server: Server, rows: int) -> dict[str, Any]:
    cells = [CellSettings(name=f"cell-{n}", dsn=server.dsn(f"bench_sources_{n}")) for n in range(2)]
    await migrations.migrate(cells, "test")
    async with Store.of(cells) as store:
        ctx, job = await a_type(store)
        shop = await asyncpg.connect(server.dsn("bench_shop"))
        planted = await fill(ctx, job, shop, rows)
        await shop.close()
        for number in range(2):
            await asyncio.to_thread(psql.run, server, f"bench_sources_{number}", "vacuum (analyze)", "checkpoint")
        return await whole(ctx, planted, server.dsn("bench_shop"))


def main(_seconds: float) -> dict[str, Any]:
    """Prepare both sides, then measure two rounds."""
    with running() as server:
        for database in ("bench_sources_0", "bench_sources_1", "bench_shop"):
            psql.run(server, "postgres", f"drop database if exists {database} with (force)")
            psql.run(server, "postgres", f"create database {database}")
        found = uvloop.run(_run(server, ROWS))
        for database in ("bench_sources_0", "bench_sources_1", "bench_shop"):
            psql.run(server, "postgres", f"drop database {database} with (force)")
    bounds = {"seconds": SECONDS, "memory_mb": MEGABYTES, "differences": DIFFERENCES}
    return judged({"settings": SETTINGS, "tasks": ROWS, **found, "bounds": bounds}, BOUNDS)
