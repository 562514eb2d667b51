"""How late first deliveries were: all of them, and those that no fault stood near."""

from typing import Any

from tests.system.checker.facts import Facts

EDGES = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0)
NEAR = 15.0


def lateness(facts: Facts) -> dict[str, Any]:
    """Seconds from the time a fire was due to its first arrival."""
    rows = {row["id"]: row for row in (*facts.live, *facts.history)}
    asked = {row["instance_id"]: row["at"] for row in facts.events if row["event"].startswith("TASK_")}
    began = facts.evidence.began.timestamp()
    seen: set[str] = set()
    every: list[float] = []
    calm: list[float] = []
    for call in facts.deliveries:
        row = rows.get(call["instance"])
        if call["idem_key"] in seen or row is None or call["fire_time"] is None or call["attempt"] > 1:
            continue
        seen.add(call["idem_key"])
        due = max([call["fire_time"], *([asked[row["id"]]] if row["id"] in asked else [])])
        due_at = due.timestamp() - facts.offsets[row["cell"]].total_seconds()
        if due_at >= began:
            late = max(0.0, call["arrived_at"] - due_at)
            every.append(late)
            if not facts.struck(due_at, call["arrived_at"], NEAR):
                calm.append(late)
    return {"all": _summary(every), "calm": _summary(calm)}


def _summary(values: list[float]) -> dict[str, Any]:
    ordered = sorted(values)
    if not ordered:
        return {"count": 0}
    at = {f"p{share}": round(ordered[min(len(ordered) - 1, len(ordered) * share // 100)], 4) for share in (50, 95, 99)}
    histogram = {f"<= {edge:g} s": sum(value <= edge for value in ordered) for edge in EDGES}
    return {"count": len(ordered), **at, "max": round(ordered[-1], 4), "histogram": histogram}
