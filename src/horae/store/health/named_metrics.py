"""Metrics with the id of a tenant or a job in a label. Both are few: the busiest tenants, and jobs that ask for it.

The label of a job is `job_id`: Prometheus itself calls what it scrapes a `job`.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final
from uuid import UUID

from prometheus_client.core import Metric

from horae.domain.health.signals import AttemptResult
from horae.domain.ids import Prefix, public
from horae.runtime.metrics import Labels, MetricFacts, MetricKind
from horae.store.health.counters import busiest_of
from horae.store.health.job_counts import MAX_COUNTED_JOBS, AttemptCount
from horae.store.health.metrics import BOUNDS_S
from horae.store.store import Store

TENANT_ATTEMPTS: Final = MetricFacts(
    "horae_busiest_tenant_attempts",
    MetricKind.GAUGE,
    "Attempts in the last written minute of the ten tenants that had most.",
    ("tenant_id", "result"),
)
JOB_ATTEMPTS: Final = MetricFacts(
    "horae_job_attempts", MetricKind.COUNTER, "Attempts of jobs with the label `metrics=on`.", ("job_id", "result")
)
JOB_DELAY: Final = MetricFacts(
    "horae_job_trigger_delay_seconds",
    MetricKind.HISTOGRAM,
    "How late first attempts of jobs with the label `metrics=on` were, without the time at gates.",
    ("job_id",),
)
NAMED_FAMILIES: Final = (TENANT_ATTEMPTS, JOB_ATTEMPTS, JOB_DELAY)


class NamedMetrics:
    """The metrics of the busiest tenants, and of at most `MAX_COUNTED_JOBS` jobs that ask for metrics."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def collect(self) -> Iterator[Metric]:
        """Yields the families."""
        yield TENANT_ATTEMPTS.samples(_by_result(Prefix.TENANT, self._busiest()))
        jobs = self._jobs()
        yield JOB_ATTEMPTS.samples(_by_result(Prefix.JOB, {job_id: one.results for job_id, one in jobs.items()}))
        delays: dict[Labels, tuple[list[int], float]] = {
            (public(Prefix.JOB, job_id),): (one.delays, one.delay_ms / 1000) for job_id, one in jobs.items()
        }
        yield JOB_DELAY.histograms(BOUNDS_S, delays)

    def _busiest(self) -> dict[UUID, list[int]]:
        """A tenant may be busy in several cells."""
        total: dict[UUID, list[int]] = {}
        for cell in self._store.cells:
            for tenant_id, row in cell.signal_counts.busiest.items():
                before = total.get(tenant_id, [0] * len(row))
                total[tenant_id] = [a + b for a, b in zip(before, row, strict=True)]
        return busiest_of(total)

    def _jobs(self) -> dict[UUID, AttemptCount]:
        found = (item for cell in self._store.cells for item in cell.signal_counts.jobs.found.items())
        return dict(islice(found, MAX_COUNTED_JOBS))


def _by_result(prefix: Prefix, rows: Mapping[UUID, list[int]]) -> dict[Labels, float]:
    return {
        (public(prefix, id_), result.name.lower()): row[result] for id_, row in rows.items() for result in AttemptResult
    }
