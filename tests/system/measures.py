"""What a run shows beside its verdict, by the target's ledger and the nodes' logs: how late, how often, how soon."""

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from horae.domain.ids import Prefix, private, shard_in

LATE = 2.0
"""Seconds from its time to its first arrival after which a fire is late (the seed's bound)."""
EDGES = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0)
REFUSED = {"settle.late", "worker.refused"}


class Arrival(NamedTuple):
    """One call as the target saw it."""

    at: float
    fire_time: float
    job: str
    key: str
    attempt: int
    instance: str

    @property
    def late(self) -> float:
        return max(0.0, self.at - self.fire_time)

    @property
    def shard(self) -> int:
        return shard_in(private(Prefix.INSTANCE, self.instance))

    @property
    def steady(self) -> bool:
        """Whether nothing but a fault can hold it up: no overlap policy, no limit, no time set in the past."""
        return self.job.startswith(("tick-", "cron-"))


def arrivals(ledger: Path, since: float, until: float = 1e18) -> list[Arrival]:
    query = """select arrived_at, fire_time, job, idem_key, attempt, instance from delivery
               where arrived_at >= ? and arrived_at <= ? order by arrived_at"""
    with closing(sqlite3.connect(f"file:{ledger}?mode=ro", uri=True, timeout=10)) as connection:
        rows = connection.execute(query, (since, until)).fetchall()
    return [Arrival(at, datetime.fromisoformat(fire).timestamp(), *rest) for at, fire, *rest in rows]


def firsts(calls: Iterable[Arrival]) -> Iterator[Arrival]:
    """The first arrival of each key."""
    seen: set[str] = set()
    for call in calls:
        if call.key not in seen:
            seen.add(call.key)
            yield call


def full_service(calls: Sequence[Arrival], healed: float) -> float:
    """Seconds after the fault until nothing that came due since was late any more."""
    late = [call.at for call in firsts(calls) if call.steady and call.fire_time >= healed and call.late > LATE]
    return round(max(late, default=healed) - healed, 3)


def first_sent(calls: Sequence[Arrival], shards: Collection[int], since: float) -> float | None:
    """When something that came due in these shards since then arrived first."""
    return next((call.at for call in calls if call.fire_time > since and call.shard in shards), None)


def duplicates(calls: Iterable[Arrival]) -> int:
    """Calls that had been made before: same key, same attempt. The receiver knows them by their key."""
    return sum(many - 1 for many in Counter((call.key, call.attempt) for call in calls).values())


def histogram(values: Sequence[float]) -> dict[str, Any]:
    ordered = sorted(values)
    if not ordered:
        return {"count": 0}
    at = {f"p{share}": round(ordered[min(len(ordered) - 1, len(ordered) * share // 100)], 4) for share in (50, 95, 99)}
    bins = [sum(value <= edge for value in ordered) for edge in EDGES] + [len(ordered)]
    return {
        "count": len(ordered),
        **at,
        "max": round(ordered[-1], 4),
        "at_most": dict(zip([*map(str, EDGES), "more"], bins, strict=True)),
    }


def timeline(calls: Sequence[Arrival], began: float, ended: float) -> list[tuple[int, int, int]]:
    """Of each second since `began`: calls that arrived, and the p95 of the lateness of first ones in milliseconds."""
    many: Counter[int] = Counter()
    late: dict[int, list[float]] = defaultdict(list)
    for call in calls:
        many[int(call.at - began)] += 1
    for call in firsts(calls):
        if call.steady:
            late[int(call.at - began)].append(call.late)
    found = []
    for second in range(int(ended - began)):
        ordered = sorted(late[second])
        found.append((second, many[second], round(1000 * ordered[len(ordered) * 95 // 100]) if ordered else 0))
    return found


def refused(logs: Iterable[Path], since: float, until: float = 1e18) -> int:
    """Writes with an old token that found zero rows, as the nodes counted them."""
    total = 0
    for log in logs:
        for line in log.read_text(errors="replace").splitlines() if log.exists() else ():
            if any(event in line for event in REFUSED):
                try:
                    said = json.loads(line)
                    at = datetime.fromisoformat(said["timestamp"]).timestamp()
                except (ValueError, KeyError):
                    continue
                total += int(said.get("count", 1)) if since <= at <= until else 0
    return total
