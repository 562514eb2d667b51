"""Drills of the past, for tests of their history."""

from datetime import timedelta

from horae.domain.drills.drills import DrillKind
from horae.domain.drills.reports import DrillResult
from horae.service.context import PlatformContext
from horae.service.drills import history
from horae.store.store import Store


async def record_drill(store: Store, days_ago: int, **facts: object) -> None:
    """Record a drill that ended some days ago. It lost a node, and passed, unless `facts` say otherwise."""
    ended_at = store.cells[0].clock.now() - timedelta(days=days_ago)
    given: dict[str, object] = {
        "kind": DrillKind.NODE_LOSS,
        "environment": "staging",
        "deployment": "",
        "actor": "root@host-1",
        "reason": "monthly drill",
        "how": "SIGKILL to node-1",
        "began_at": ended_at - timedelta(minutes=4),
        "broken_at": ended_at - timedelta(minutes=3),
        "restored_at": ended_at - timedelta(minutes=2),
        "ended_at": ended_at,
        "rto_s": 4.2,
        "rpo_s": 0.0,
    }
    result = DrillResult(**given | facts)  # type: ignore[arg-type]
    await history.record_ended(PlatformContext(store, "root@host-1"), f"drill-{days_ago}", result, f"{days_ago:064x}")
