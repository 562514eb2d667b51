"""Our compiled `next()` beside cronsim's running iterator: ten everyday expressions in a zone whose clocks change.

Both walk through the same ten years again and again. Beside it, a day of a hundred thousand jobs is forecast.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from math import prod
from statistics import median
from typing import Any
from zoneinfo import ZoneInfo

from cronsim import CronSim

from benchmarks.measure import Bound, judged
from horae.domain.cron import DstPolicy, parse
from horae.domain.forecast import forecast
from horae.domain.schedules import Schedule
from horae.domain.schedules.triggers import cron as cron_trigger
from horae.domain.zones.zones import tzdata_version, zone

ZONE = "America/New_York"
EVERYDAY = (
    "* * * * *",
    "*/5 * * * *",
    "0 * * * *",
    "0 0 * * *",
    "30 2 * * *",
    "0 9 * * 1-5",
    "*/15 9-17 * * MON-FRI",
    "0 0 1 * *",
    "0 0 * * 0",
    "15 3 1,15 * *",
)
FIRST, LAST = datetime(2025, 1, 1, tzinfo=UTC), datetime(2035, 1, 1, tzinfo=UTC)
SLICES, SHORTEST, CHUNK = 5, 1.5, 100
FLEET = ("* * * * *", *("*/5 * * * *",) * 4, *("0 * * * *",) * 3, *("30 3 * * *",) * 2)
JOBS = 100_000
BOUNDS = (Bound("ratio", least=5), Bound("worst", least=1.5), Bound("forecast_cpu_s", most=60))


def ours(text: str) -> Callable[[int], None]:
    """A walk with `next()`: so many fires further at each call."""
    compiled, here, policy, at = parse(text), zone(ZONE), DstPolicy(), FIRST

    def walk(fires: int) -> None:
        nonlocal at
        for _ in range(fires):
            found = compiled.next(at, here, policy)
            assert found is not None
            at = found
        if at > LAST:
            at = FIRST

    return walk


def theirs(text: str) -> Callable[[int], None]:
    """The same walk with cronsim's iterator, which keeps its place between two fires."""
    here = ZoneInfo(ZONE)
    running = CronSim(text, FIRST.astimezone(here))

    def walk(fires: int) -> None:
        nonlocal running
        at = FIRST
        for _ in range(fires):
            at = next(running)
        if at > LAST:
            running = CronSim(text, FIRST.astimezone(here))

    return walk


def rate(walk: Callable[[int], None], seconds: float) -> float:
    """Fires per CPU-second over at least that long."""
    fires, begin = 0, time.process_time()
    while (took := time.process_time() - begin) < seconds:
        walk(CHUNK)
        fires += CHUNK
    return fires / took


def main(seconds: float) -> dict[str, Any]:
    """The full size."""
    return run(SLICES, max(SHORTEST, seconds / (2 * SLICES)), JOBS)


def run(slices: int, length: float, jobs: int) -> dict[str, Any]:
    """Ours and cronsim in turn; each slice gives every expression its part. Then the forecast of so many jobs."""
    part = length / len(EVERYDAY)
    our, their = {text: ours(text) for text in EVERYDAY}, {text: theirs(text) for text in EVERYDAY}
    for walks in (our, their):  # what is read and cached once is not what a fire costs
        for walk in walks.values():
            walk(CHUNK)
    rates: dict[str, tuple[list[float], list[float]]] = {text: ([], []) for text in EVERYDAY}
    for number in range(slices):
        sides = [(0, our), (1, their)] if number % 2 == 0 else [(1, their), (0, our)]
        for side, walks in sides:
            for text, walk in walks.items():
                rates[text][side].append(rate(walk, part))
    return _report(rates, length, jobs)


def _report(rates: dict[str, tuple[list[float], list[float]]], length: float, jobs: int) -> dict[str, Any]:
    medians = {text: (median(mine), median(bare)) for text, (mine, bare) in rates.items()}
    ratios = {text: mine / bare for text, (mine, bare) in medians.items()}
    mean = prod(ratios.values()) ** (1 / len(ratios))
    fires, took = _forecast(jobs)
    found = {
        "settings": {"zone": ZONE, "tzdata": tzdata_version(), "slice_s": length, "slices": len(rates[EVERYDAY[0]][0])},
        "rate": round(_mean([mine for mine, _ in medians.values()])),
        "bare": round(_mean([bare for _, bare in medians.values()])),
        "ratio": round(mean, 2),
        "worst": round(min(ratios.values()), 2),
        "ratios": {text: round(ratio, 2) for text, ratio in ratios.items()},
        "microseconds": {text: round(1e6 / mine, 2) for text, (mine, _) in medians.items()},
        "bare_microseconds": {text: round(1e6 / bare, 2) for text, (_, bare) in medians.items()},
        "forecast_jobs": jobs,
        "forecast_fires": fires,
        "forecast_cpu_s": round(took, 2),
    }
    return judged(found, BOUNDS)


def _mean(values: list[float]) -> float:
    """The geometric mean."""
    return float(prod(values) ** (1 / len(values)))


def _forecast(jobs: int) -> tuple[int, float]:
    """A day of a fleet; in CPU-seconds, without making its jobs."""
    fleet = [
        Schedule(trigger=cron_trigger(FLEET[k % 10], zone_name=ZONE, salt=f"bench/{k}"), key=f"bench/{k}")
        for k in range(jobs)
    ]
    begin = time.process_time()
    made = forecast(fleet, FIRST, FIRST + timedelta(days=1))
    return made.total, time.process_time() - begin
