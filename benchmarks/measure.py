"""How we measure: ours and bare alternate in slices, a figure is a median, small differences are CPU, not rates."""

import os
import resource
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any


@dataclass(frozen=True)
class Slice:
    """What one slice did and what it cost."""

    fires: int
    seconds: float
    pg_cpu: float = 0.0
    client_cpu: float = 0.0
    wal_bytes: int = 0
    transactions: int = 0

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
    """The commit that is measured; `+` where the tree has changes."""
    here = Path(__file__).parent
    head = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=here, capture_output=True, text=True, check=False
    )
    dirty = subprocess.run(["git", "status", "--porcelain"], cwd=here, capture_output=True, text=True, check=False)
    return head.stdout.strip() + ("+" if dirty.stdout.strip() else "")
