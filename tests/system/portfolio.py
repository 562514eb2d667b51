"""The jobs of the load: every kind of trigger and policy that a fault could hurt, `rate` fires a second in all."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from horae.domain.instances.instances import Priority
from horae.domain.instances.retries import RetryPolicy
from horae.domain.jobs.jobs import Definition
from horae.domain.limits.limits import Limit
from horae.domain.schedules import Misfire, OnMisfire, OnOverlap, Policies
from horae.domain.schedules.triggers import IntervalTrigger, KeyedTrigger, cron
from horae.domain.targets.targets import HttpTarget, QueueTarget
from horae.domain.tasks.tasks import AfterSuccess

QUEUE: Final = "work"
PUBLISH: Final = "ARTICLE_PUBLISH"
AUDIT: Final = "ARTICLE_AUDIT"
TASKS_SHARE: Final = 0.15
"""Of the rate; the rest comes from schedules."""
RETRY: Final = RetryPolicy(base=0.2, jitter_min=0.05, jitter_max=0.2, max_failures=8)
CRONS: Final = (
    ("* * * * * *", "UTC", 1),
    ("*/2 * * * * ?", "Asia/Shanghai", 2),
    ("1/2 * * * * *", "America/New_York", 2),
    ("0/5 * * * * ?", "Europe/Berlin", 5),
    ("*/3 * * ? * MON-SUN", "Asia/Kolkata", 3),
)
MISFIRES: Final = (Misfire(), Misfire(OnMisfire.ALL), Misfire(OnMisfire.SKIP), Misfire(OnMisfire.ALL, cap=500))
PRIORITIES: Final = (Priority.NORMAL, Priority.CRITICAL, Priority.NORMAL, Priority.LOW)
OVERLAPS: Final = {
    OnOverlap.FORBID: "/slow/1200",
    OnOverlap.QUEUE_ONE: "/slow/1200",
    OnOverlap.REPLACE: "/slow/300",  # else every one of its answers would be refused, and hide those of a fault
}


def portfolio(url: str, rate: float, anchor: datetime) -> Iterator[tuple[str, Definition]]:
    """Names and definitions. A target answers within 1.5 s or has failed, so that what is lost is found soon."""

    def push(path: str) -> HttpTarget:
        return HttpTarget(f"{url}{path}", connect_timeout=1.0, read_timeout=1.5)

    every = {seconds: IntervalTrigger(seconds, anchor) for seconds in (1, 2)}
    yield PUBLISH, Definition(trigger=KeyedTrigger(), target=push("/ok"), retry=RETRY)
    slow = push("/slow/150")
    yield AUDIT, Definition(trigger=KeyedTrigger(), target=slow, retry=RETRY, after_success=AfterSuccess.REOPEN)
    for n in range(_count(rate, 0.30)):
        policies = Policies(misfire=MISFIRES[n % len(MISFIRES)])
        yield (
            f"tick-{n}",
            Definition(trigger=every[1], target=push("/ok"), policies=policies, priority=PRIORITIES[n % 4]),
        )
    for n in range(_count(rate, 0.25) * 2):
        expression, zone, _ = CRONS[n % len(CRONS)]
        policies = Policies(misfire=MISFIRES[n % len(MISFIRES)])
        yield f"cron-{n}", Definition(trigger=cron(expression, zone_name=zone), target=push("/ok"), policies=policies)
    for n in range(_count(rate, 0.05)):
        yield f"slow-{n}", Definition(trigger=every[1], target=push(f"/slow/{200 + 100 * (n % 8)}"), retry=RETRY)
    for n in range(_count(rate, 0.03) * 2):
        # Not all of them: the breaker of a target where every first attempt fails never closes again.
        yield f"retry-{n}", Definition(trigger=every[2], target=push(f"/flaky/{1 + n % 3}"), retry=RETRY)
    for n in range(_count(rate, 0.02) * 2):
        yield f"drop-{n}", Definition(trigger=every[2], target=push("/drop/20"), retry=RETRY)
    for n in range(_count(rate, 0.15)):
        target = QueueTarget(QUEUE, claim_seconds=4.0)
        yield f"pull-{n}", Definition(trigger=every[1], target=target, retry=RETRY)
    for n in range(_count(rate, 0.04)):
        yield f"pausing-{n}", Definition(trigger=every[1], target=push("/ok"))
    for overlap, path in OVERLAPS.items():
        name = f"overlap-{overlap.value.replace('_', '-')}"
        yield name, Definition(trigger=every[1], target=push(path), policies=Policies(overlap=overlap), retry=RETRY)
    limit = Limit(concurrency=2)
    yield "limited", Definition(trigger=every[1], target=push("/slow/700"), retry=RETRY, limit=limit)


def _count(rate: float, share: float) -> int:
    return max(1, round(rate * share))
