"""Graphs: 1,000 graphs of 10 steps each, beside plain fires of the same engine in the same run.

Every graph has a run in each slice: `a`, four steps behind it, one that joins them, three behind that, and one that
joins those. Nobody is called: the target answers inside the process, on both sides. A slice begins when the node starts
the first run and ends with the last one.
"""

import asyncio
import time
from typing import Any, Final

from benchmarks import engine, psql, push
from benchmarks.data import fresh
from benchmarks.measure import Bound, Size, Slice, alternate, judged, middle, per_fire
from benchmarks.meter import Meter
from benchmarks.nodes import node
from benchmarks.server import SETTINGS, Server, running
from horae.domain.graphs.graphs import StepPlan
from horae.domain.jobs.jobs import Definition
from horae.domain.schedules.triggers import ManualTrigger
from horae.domain.targets.targets import HttpTarget, QueueTarget
from horae.runtime.settings import CellSettings
from horae.service.context import Context, PlatformContext
from horae.service.graphs import graphs
from horae.service.graphs.graphs import GraphRequest, StepRequest
from horae.service.instances import instances
from horae.service.tenants import tenants
from horae.store.store import Store

GRAPHS: Final = 1000
AT_ONCE: Final = 4
MOST_S: Final = 300.0
TENANT_NAME: Final = "graphs"
PLANS: Final = (
    StepPlan("a"),
    *(StepPlan(f"b{number}", ("a",)) for number in range(4)),
    StepPlan("c", tuple(f"b{number}" for number in range(4))),
    *(StepPlan(f"d{number}", ("c",)) for number in range(3)),
    StepPlan("e", tuple(f"d{number}" for number in range(3))),
)
SUCCEEDED: Final = "where state = 'SUCCESS'"
TARGET: Final = HttpTarget("http://127.0.0.1:9/")
BOUNDS: Final = (
    Bound("rate", least=1500),
    Bound("steps", equals="rows_in_history"),
    Bound("statements_per_fire", most=1),
)


def main(seconds: float) -> dict[str, Any]:
    """The full size."""
    return run(Size.lasting(seconds, 14, shortest_s=3.0), GRAPHS)


def run(size: Size, many: int) -> dict[str, Any]:
    """Graphs and plain fires in turn."""
    with running() as server:
        ours_db, plain_db = (fresh(server, size.jobs, name) for name in ("bench_graph", "bench_graph_plain"))
        for name in (ours_db, plain_db):
            push.park(server, name)
        asyncio.run(_make(server, ours_db, many))
        ours, plain = alternate(
            size.slices,
            lambda number: _graphs(server, ours_db, many, number),
            lambda _: engine.engine(server, plain_db, size),
        )
        steps = int(psql.value(server, ours_db, f"select count(*) from graph_step {SUCCEEDED}"))
        rows = int(psql.value(server, ours_db, "select count(*) from instance_history where idem_key like '%:g:%'"))
    rate, plain_rate = (middle(side, lambda one: one.rate) for side in (ours, plain))
    found = {
        "settings": {"graphs": many, "steps_per_graph": len(PLANS), "slices": size.slices, "postgresql": SETTINGS},
        "rate": round(rate),
        "plain": round(plain_rate),
        "ratio": round(rate / plain_rate, 3),
        "node_cpu_ms_per_step": round(middle(ours, lambda one: one.per_fire(one.client_cpu) * 1000), 4),
        "pg_cpu_ms_per_step": round(middle(ours, lambda one: one.per_fire(one.pg_cpu) * 1000), 4),
        "plain_node_cpu_ms_per_fire": round(middle(plain, lambda one: one.per_fire(one.client_cpu) * 1000), 4),
        "plain_pg_cpu_ms_per_fire": round(middle(plain, lambda one: one.per_fire(one.pg_cpu) * 1000), 4),
        **per_fire(ours),
        "plain_statements_per_fire": per_fire(plain)["statements_per_fire"],
        "steps": steps,
        "rows_in_history": rows,
        "rates": [round(one.rate) for one in ours],
        "plain_rates": [round(one.rate) for one in plain],
    }
    return judged(found, BOUNDS)


async def _make(server: Server, database: str, many: int) -> None:
    """The graphs, made by the service."""
    async with _store(server, database) as store:
        ctx = Context.of(store, await tenants.create(PlatformContext(store, "bench"), TENANT_NAME, width=4096), "bench")
        steps = [StepRequest(plan, Definition(trigger=ManualTrigger(), target=TARGET)) for plan in PLANS]
        request = GraphRequest(Definition(trigger=ManualTrigger(), target=QueueTarget("any")), steps)
        await _each(many, lambda number: graphs.create(ctx, _name(number), request))


async def _begin(server: Server, database: str, many: int, key: str) -> None:
    """One run of each graph, started by hand."""
    async with _store(server, database) as store:
        ctx = Context.of(store, await tenants.find(store, TENANT_NAME), "bench")
        await _each(many, lambda number: instances.trigger(ctx, _name(number), key, even_if_down=True))


async def _each(many: int, work: Any) -> None:
    """Do a piece of work for each number, some at once."""
    numbers = iter(range(many))

    async def some() -> None:
        for number in numbers:
            await work(number)

    await asyncio.gather(*(some() for _ in range(AT_ONCE)))


def _graphs(server: Server, database: str, many: int, number: int) -> Slice:
    """One slice: step instances per second, from the start of the first run to the end of the last one."""
    asyncio.run(_begin(server, database, many, f"slice{number}"))
    psql.run(server, database, "vacuum (analyze) instance_live", "vacuum (analyze) graph_run", "vacuum graph_step")
    ended = f"select count(*) from graph_run {SUCCEEDED}"
    before, until = int(psql.value(server, database, ended)), time.time() + MOST_S
    since = psql.value(server, database, "select now()")
    with node(server, database, program=("benchmarks.noop",)) as process:
        cpu = process.cpu_seconds()
        with Meter(server, database).measuring() as cost:
            while int(psql.value(server, database, ended)) < before + many:
                if time.time() > until:
                    raise RuntimeError("the runs did not end")
                time.sleep(0.1)
            cpu = process.cpu_seconds() - cpu
    took = psql.value(
        server,
        database,
        f"select extract(epoch from max(ended_at) - min(started_at)) from graph_run where started_at >= '{since}'",
    )
    return cost.slice(many * len(PLANS), float(took), cpu)


def _store(server: Server, database: str) -> Store:
    return Store.of([CellSettings(name="bench", dsn=server.dsn(database))])


def _name(number: int) -> str:
    return f"graph{number:05}"
