"""Counts for jobs that ask for metrics of their own, by the label `metrics=on`."""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

import msgspec

from horae.domain.health.signals import BUCKETS, AttemptResult, bucket_of

METRICS_LABEL: Final = "metrics"
METRICS_ON: Final = "on"
MAX_COUNTED_JOBS: Final = 50
"""Jobs that have metrics of their own, per process. Further jobs are not counted by themselves."""


class AttemptCount(msgspec.Struct):
    """The attempts of one job by result, and the delays of its first attempts."""

    results: list[int] = msgspec.field(default_factory=lambda: [0] * len(AttemptResult))
    delays: list[int] = msgspec.field(default_factory=lambda: [0] * BUCKETS)
    delay_ms: int = 0


class JobCounts:
    """The counts of the first `MAX_COUNTED_JOBS` jobs that asked for metrics, in one cell, since the process began."""

    def __init__(self) -> None:
        self.found: dict[UUID, AttemptCount] = {}

    def count(self, job_id: UUID, how: AttemptResult | None, delay_ms: int | None) -> None:
        """Count one attempt: its result, and its delay if it was a first attempt."""
        count = self.found.get(job_id)
        if count is None:
            if len(self.found) >= MAX_COUNTED_JOBS:
                return
            count = self.found[job_id] = AttemptCount()
        if how is not None:
            count.results[how] += 1
        if delay_ms is not None:
            count.delays[bucket_of(delay_ms)] += 1
            count.delay_ms += delay_ms


def wants_metrics(labels: Mapping[str, str]) -> bool:
    """Whether a job with these labels asks for metrics of its own."""
    return labels.get(METRICS_LABEL) == METRICS_ON
