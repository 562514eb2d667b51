"""Graphs for tests of the console: one whose run waits for a person, and one of a thousand steps."""

from typing import Any, NamedTuple
from urllib.parse import quote
from uuid import uuid4

import msgspec

from tests.console.scene import Scene

REPORT_TYPE = "application/vnd.horae.report+json"
RESULT = {"rows": 1204, "file": "orders.parquet"}
ONE_TRY = {"max_failures": 1}


class BlockedRun(NamedTuple):
    """A run that waits for a person, and the path of the receiver that failed."""

    id: str
    graph: str
    failed_path: str

    @property
    def page(self) -> str:
        """Its page in the console."""
        return f"/graph-runs/{self.id}"


def call(scene: Scene, prefix: str, name: str, *needs: str, **facts: Any) -> dict[str, Any]:
    """A step that calls the receiver at `/prefix-name` once."""
    target = {"kind": "http", "url": f"{scene.served.receiver.url}/{prefix}-{name}"}
    return {"name": name, "needs": list(needs), "target": target, "retry": ONE_TRY} | facts


async def blocked_run(scene: Scene, graph: str, result: Any = RESULT, note: str = "") -> BlockedRun:
    """A run in which `load` is dead, `report` waits for it, and one of five elements of `notify` has failed."""
    prefix, receiver = uuid4().hex[:6], scene.served.receiver
    receiver.bodies[f"/{prefix}-extract"] = msgspec.json.encode({"result": result})
    receiver.types[f"/{prefix}-extract"] = REPORT_TYPE
    receiver.answers |= {f"/{prefix}-load": [400], f"/{prefix}-notify": [400]}
    each = {"each": {"$run": "payload"}, "tolerated_failures": 0.5, "payload": {"customer": {"$item": True}}}
    steps = [
        call(scene, prefix, "extract"),
        call(scene, prefix, "load", "extract", payload={"of": {"$result": "extract"}, "note": note}),
        call(scene, prefix, "notify", "extract", **each),
        call(scene, prefix, "report", "load", "notify"),
        call(scene, prefix, "audit", "load", "notify", rule="all_done"),
    ]
    await scene.home.ask("POST", "/jobs", {"name": graph, "steps": steps})
    run = await scene.trigger(quote(graph, safe=""), [f"customer-{number}" for number in range(5)])
    waits = {"extract": "SUCCESS", "load": "DEAD", "notify": "SUCCESS", "report": "BLOCKED", "audit": "SUCCESS"}
    await begun(scene, graph, run)
    await scene.when(f"/graph-runs/{run}", lambda found: {one["name"]: one["state"] for one in found["steps"]} == waits)
    return BlockedRun(run, graph, f"/{prefix}-load")


async def big_run(scene: Scene, graph: str, steps: int = 1_000) -> str:
    """A run of many steps whose first one waits for a worker; gives its page."""
    every = [
        {"name": f"step-{n}", "needs": sorted({f"step-{n // 2}", f"step-{n - 1 - n % 7}"}) if n > 7 else []}
        for n in range(steps)
    ]
    await scene.home.ask("POST", "/jobs", {"name": graph, "steps": every})
    run = await scene.trigger(graph)
    await begun(scene, graph, run)
    return f"/graph-runs/{run}"


async def begun(scene: Scene, graph: str, run: str) -> None:
    """Wait until a node has started a run."""
    await scene.when(
        f"/jobs/{quote(graph, safe='')}/graph-runs", lambda page: any(one["id"] == run for one in page["items"])
    )
