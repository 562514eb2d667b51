"""How we measure: ours and bare alternate in slices, a figure is a median, small differences are CPU, not rates."""

import os
import resource
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Any, NamedTuple, Self

MEASURED = (":/src", ":/sdk", ":/requirements", ":/benchmarks", ":(exclude,top)benchmarks/reports")
JOBS = int(os.environ.get("HORAE_BENCH_JOBS", "300000"))


@dataclass(frozen=True)
class Size:
    """How large a run is. `lead_s` is the time between preparing the rows and the first fire."""

    jobs: int = JOBS
    slices: int = 5
    slice_s: float = 5.0
    lead_s: float = 10.0

    @classmethod
    def lasting(cls, seconds: float, parts: int, *, shortest_s: float = 1.5) -> Self:
        """The full size; its slices are shorter where `seconds` does not suffice for so many parts."""
        return cls(slice_s=min(cls.slice_s, max(shortest_s, seconds / parts)))


class Bound(NamedTuple):
    """What a figure of a report must keep to; `equals` names another figure. `more.all` stands inside of `more`."""

    figure: str
    least: float | None = None
    most: float | None = None
    equals: str | None = None

    def miss(self, found: Mapping[str, Any]) -> str | None:
        """A sentence where the figure does not keep to it."""
        value = figure_of(found, self.figure)
        if self.least is not None and not value >= self.least:
            return f"{self.figure} is {value}, at least {self.least:g} was wanted"
        if self.most is not None and not value <= self.most:
            return f"{self.figure} is {value}, at most {self.most:g} was wanted"
        if self.equals is not None and value != (other := figure_of(found, self.equals)):
            return f"{self.figure} is {value}, {self.equals} is {other}: they should be equal"
        return None


def figure_of(found: Mapping[str, Any], name: str) -> Any:
    """A figure of a report by its name, also where it stands inside of another."""
    value: Any = found
    for part in name.split("."):
        value = value[part]
    return value


def judged(found: dict[str, Any], bounds: Sequence[Bound]) -> dict[str, Any]:
    """The figures, and whether every bound held: `missed` says which did not."""
    missed = [said for bound in bounds if (said := bound.miss(found))]
    return found | {"missed": missed, "ok": not missed}


def percentile(values: Sequence[float], which: int) -> float:
    """The value that so many of a hundred do not exceed; infinite where there are none."""
    return quantiles(values, n=100)[which - 1] if len(values) > 1 else float("inf")


@dataclass(frozen=True)
class Slice:
    """What one slice did and what it cost."""

    fires: int
    seconds: float
    pg_cpu: float = 0.0
    client_cpu: float = 0.0
    wal_bytes: int = 0
    transactions: int = 0
    statements: int = 0
    writes: int = 0

    @property
    def rate(self) -> float:
        """Fires per second."""
        return self.fires / self.seconds

    def per_fire(self, cost: float) -> float:
        """A cost divided by the fires of this slice."""
        return cost / self.fires if self.fires else float("inf")


def alternate(slices: int, *sides: Callable[[int], Slice]) -> list[list[Slice]]:
    """Run the sides in turn, so many slices each; the order turns round each time, so that no side is always first."""
    done: list[list[Slice]] = [[] for _ in sides]
    for number in range(slices):
        order = range(len(sides)) if number % 2 == 0 else reversed(range(len(sides)))
        for side in order:
            done[side].append(sides[side](number))
    return done


def middle(slices: Sequence[Slice], figure: Callable[[Slice], float]) -> float:
    """The median of a figure."""
    return median(map(figure, slices))


def per_fire(slices: Sequence[Slice]) -> dict[str, float]:
    """What is counted per fire: it does not depend on how busy the machine is."""
    counted: dict[str, Callable[[Slice], float]] = {
        "tx_per_fire": lambda one: one.per_fire(one.transactions),
        "writes_per_fire": lambda one: one.per_fire(one.writes),
        "statements_per_fire": lambda one: one.per_fire(one.statements),
        "wal_bytes_per_fire": lambda one: one.per_fire(one.wal_bytes),
    }
    return {name: round(middle(slices, figure), 4) for name, figure in counted.items()}


def own_cpu() -> float:
    """CPU of this process and of its children that ended."""
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    )


def machine() -> dict[str, Any]:
    """What this was measured on."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.partition(":")[2].strip() for line in lines if "model name" in line), "?")
    return {"cores": os.cpu_count(), "memory_gib": round(memory), "cpu": model}


def commit() -> str:
    """The last commit that changed what is measured or how; `+` where the tree has changes to that."""
    last = _git("log", "-1", "--format=%h", "--", *MEASURED)
    return last + ("+" if _git("status", "--porcelain", "--", *MEASURED) else "")


def _git(*words: str) -> str:
    asked = ["git", *words]
    here = Path(__file__).parent
    return subprocess.run(asked, cwd=here, capture_output=True, text=True, check=False).stdout.strip()
