"""What an overload is and what it shows: the plan of a run, its timeline and its figures, from what the target saw.

The machine is faster and slower within minutes (`benchmarks.speed`). The rate under overload and the bound of the
backlog go by the speed of each second beside the speed while the best rate was measured; lateness is as it was seen.
Ten seconds of which others had more than a tenth are not judged: who waits for a core that was stolen is late by more
than the work takes. Where too few are left, all are judged, and the run is repeated.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any, NamedTuple

from benchmarks.measure import Bound, percentile
from benchmarks.target import Arrival

Speed = Callable[[float], float]
"""The speed of the machine at a second of the run, beside the speed while the best rate was measured."""
Left = Callable[[float, float], float]
"""The part of the machine that others left to us between two seconds of the run."""

OVER, AFTER = 3.0, 0.5
PATIENCE = 1.6
"""How much longer than a steady machine needs for the backlog a run is watched at most."""
FULL_S = 60.0
CRITICAL_RATE, QUIET_RATE = 100.0, 20.0
RETRIES = 200_000
WINDOW_S = 10
MOST_STOLEN = 0.1
"""The part of the machine that others may have in a window that is judged."""
LEAST_CALM = 0.7
"""The part of its windows that a run needs to be judged."""
BOUNDS = (
    Bound("throughput_ratio", least=0.9),
    Bound("critical_p95_ms", most=1000),
    Bound("quiet_p95_ms", most=250),
    Bound("lease_doubts", most=0),
    Bound("gone_beside_bound", most=1.0),
    Bound("after_p95_ms", most=100),
    Bound("callback_cpu_ms", most=50),
)


@dataclass(frozen=True)
class Variant:
    """What is different about a run."""

    name: str
    slow_target: bool = False
    retries: bool = False
    half_postgres: bool = False


VARIANTS = (
    Variant("plain"),
    Variant("slow_target", slow_target=True),
    Variant("retries", retries=True),
    Variant("half_postgres", half_postgres=True),
)


class Stream(NamedTuple):
    """Fires that come due at a rate from a second of the run to another."""

    name: str
    rate: float
    begin_s: float
    end_s: float


@dataclass(frozen=True)
class Plan:
    """What is offered when, and for how long it is watched; all in seconds of the run."""

    best: float
    over_s: float
    variant: Variant
    critical: float = CRITICAL_RATE
    quiet: float = QUIET_RATE

    @property
    def settle_s(self) -> float:
        """How soon after the backlog is gone all is on time again."""
        return max(1.0, 10.0 * self.over_s / FULL_S)

    @property
    def slow(self) -> tuple[float, float]:
        """When the target is slow."""
        return (self.over_s / 3, 2 * self.over_s / 3) if self.variant.slow_target else (0.0, 0.0)

    @property
    def retries(self) -> int:
        """How many retries wait from the beginning: 200,000 in full size."""
        return int(RETRIES * self.over_s / FULL_S) if self.variant.retries else 0

    @property
    def end_s(self) -> float:
        """The backlog, its bound, and time to see that all is well after it. A run ends sooner where that is seen."""
        missed = self.slow[1] - self.slow[0]
        backlog_s = (OVER - 1) * self.over_s + missed + self.retries / self.best
        return self.over_s + PATIENCE * backlog_s / (1 - AFTER) + self.after_s

    @property
    def after_s(self) -> float:
        """How long a run is watched after its backlog is gone."""
        return 2.5 * self.settle_s

    @property
    def few(self) -> float:
        """How many still wait where the backlog counts as gone: a quarter of a second's load."""
        return 0.25 * AFTER * self.best

    def streams(self) -> list[Stream]:
        """The load in two stretches, and beside it those who have little to do."""
        few = self.critical + self.quiet
        return [
            Stream("normal", OVER * self.best - few, 0.0, self.over_s),
            Stream("normal", max(1.0, AFTER * self.best - few), self.over_s, self.end_s),
            Stream("critical", self.critical, 0.0, self.end_s),
            Stream("quiet", self.quiet, 0.0, self.end_s),
        ]

    def due_by(self, second: float, names: Sequence[str] = ("normal",)) -> float:
        """How many of the load have come due by then."""
        return sum(
            one.rate * (min(second, one.end_s) - one.begin_s)
            for one in self.streams()
            if one.name in names and second > one.begin_s
        )

    def all_due_by(self, second: float) -> float:
        """How many calls a node without a backlog has made by then."""
        return self.retries + self.due_by(second, ("normal", "critical", "quiet"))


@dataclass
class Timeline:
    """What arrived in every second of a run, and how late it was."""

    rate: list[int] = field(default_factory=list)
    normal_p95_ms: list[float | None] = field(default_factory=list)
    critical_p95_ms: list[float | None] = field(default_factory=list)
    quiet_p95_ms: list[float | None] = field(default_factory=list)

    @classmethod
    def of(cls, arrivals: Sequence[Arrival], first: float, end_s: float) -> "Timeline":
        """Second by second."""
        late: dict[str, list[list[float]]] = {
            name: [[] for _ in range(int(end_s) + 1)] for name in ("normal", "critical", "quiet")
        }
        line = cls(rate=[0] * (int(end_s) + 1))
        for one in arrivals:
            second = int(one.at - first)
            if 0 <= second <= int(end_s):
                line.rate[second] += 1
                if one.attempt == 1:
                    late[one.job.partition("-")[0]][second].append(one.late_ms)
        line.normal_p95_ms, line.critical_p95_ms, line.quiet_p95_ms = (
            [round(percentile(values, 95), 1) if len(values) > 1 else None for values in late[name]]
            for name in ("normal", "critical", "quiet")
        )
        return line


def figures(
    plan: Plan, arrivals: Sequence[Arrival], first: float, end_s: float, speed: Speed, left: Left
) -> dict[str, Any]:
    """What the target saw of a run that was watched for `end_s`; `first` is when the first fire was due."""
    line = Timeline.of(arrivals, first, end_s)
    speeds = [speed(second) for second in range(len(line.rate))]
    windows = range(max(1, int(end_s) // WINDOW_S))
    calm = [number for number in windows if left(number * WINDOW_S, (number + 1) * WINDOW_S) >= 1 - MOST_STOLEN]
    judged = calm if len(calm) >= LEAST_CALM * len(windows) else windows
    gone = _gone(plan, arrivals, first, end_s)
    backlog = plan.due_by(plan.over_s) - sum(1 for one in arrivals if _is_load(one) and one.at - first <= plan.over_s)
    bound = 1.1 * _needed_s(plan, backlog + plan.retries, speeds)
    over = [
        second
        for second in range(int(plan.over_s / FULL_S), int(plan.over_s))
        if not plan.slow[0] <= second < plan.slow[1] + plan.settle_s and second // WINDOW_S in judged
    ]
    after = [one for one in arrivals if _is_load(one) and one.fire_time.timestamp() - first > gone + plan.settle_s]
    found = {
        "best": round(plan.best),
        "speed": round(median(speeds), 3),
        "calm": round(len(calm) / len(windows), 2),
        "throughput_ratio": round(
            median([line.rate[second] / speeds[second] for second in over] or [0]) / plan.best, 3
        ),
        "throughput_ratio_raw": round(median([line.rate[second] for second in over] or [0]) / plan.best, 3),
        "backlog": round(backlog),
        "gone_s": round(gone - plan.over_s, 1),
        "gone_bound_s": round(bound, 1),
        "gone_beside_bound": round((gone - plan.over_s) / bound, 3) if bound > 0 else float("inf"),
        "after_p95_ms": round(percentile([one.late_ms for one in after], 95), 1),
        "timeline": asdict(line) | {"speed": [round(one, 3) for one in speeds]},
    }
    for name in ("critical", "quiet"):
        found[f"{name}_p95_ms"] = round(_worst_window(arrivals, name, first, plan, end_s, judged), 1)
    return found


def _is_load(one: Arrival) -> bool:
    return one.attempt == 1 and one.job.startswith("normal")


def _gone(plan: Plan, arrivals: Sequence[Arrival], first: float, end_s: float) -> float:
    """The first second after the overload at which the backlog is gone; else infinite."""
    arrived = sorted(one.at - first for one in arrivals if _is_load(one))
    seen = 0
    for second in range(int(end_s) + 1):
        while seen < len(arrived) and arrived[seen] <= second:
            seen += 1
        if second > plan.over_s and plan.due_by(second) - seen <= plan.few:
            return float(second)
    return float("inf")


def _needed_s(plan: Plan, backlog: float, speeds: Sequence[float]) -> float:
    """Seconds after the overload in which the backlog is gone at the best rate, by the speed of each of them.

    At a steady speed that is the backlog by the capacity that half a load leaves. Seconds that nobody watched count as
    fast as the last one; infinite where the machine became too slow for half of its load.
    """
    left, second = backlog, int(plan.over_s)
    while left > 0:
        spare = plan.best * (speeds[min(second, len(speeds) - 1)] - AFTER)
        if second >= len(speeds) and spare <= 0:
            return float("inf")
        if 0 < spare >= left:
            return second + left / spare - int(plan.over_s)
        left -= spare
        second += 1
    return 0.0


def _worst_window(
    arrivals: Sequence[Arrival], name: str, first: float, plan: Plan, end_s: float, judged: Collection[int]
) -> float:
    """The p95 of the worst ten seconds in which they came due, of those that are judged.

    Infinite where more than 5 of 100 never arrived.
    """
    windows: dict[int, list[float]] = {}
    for one in arrivals:
        if one.job.startswith(name):
            due_s = one.fire_time.timestamp() - first
            windows.setdefault(int(due_s) // WINDOW_S, []).append(one.late_ms)
    rate = next(one.rate for one in plan.streams() if one.name == name)
    whole = [windows.get(number, []) for number in judged]
    enough = 0.95 * rate * min(WINDOW_S, end_s - 1)  # the last may still be on their way
    return max(percentile(late, 95) if len(late) >= enough else float("inf") for late in whole)
