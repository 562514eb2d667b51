"""Counts what this process did in one cell, in memory; written once a minute, and added up for its metrics."""

from collections import Counter
from collections.abc import Mapping, Sequence
from uuid import UUID

from horae.domain.health.signals import BUCKETS, NOBODY, AttemptResult, Class, bucket_of
from horae.store.health.job_counts import JobCounts

FIRST_BUCKET = len(AttemptResult)
FIRST_SHIFT = FIRST_BUCKET + BUCKETS
Counted = list[int]
BUSIEST_TENANTS = 10
"""Tenants that metrics name: those with the most attempts in the last minute."""


class SignalCounts:
    """One row of counts per tenant and class: results of attempts, then delays of first attempts by bucket.

    After these it has how the time at gates shifts the delays, bucket by bucket.

    `jobs` counts the jobs that ask for metrics of their own. `busiest` has the results of the tenants with the most
    attempts in the last minute.
    """

    def __init__(self) -> None:
        self._counts: dict[tuple[UUID, int, int], Counted] = {}
        self._taken: dict[tuple[int, int], Counted] = {}
        self._delays_ms: Counter[tuple[int, int]] = Counter()
        self._held_shifts: dict[tuple[int, int], Counted] = {}
        self._held_ms: Counter[tuple[int, int]] = Counter()
        self.jobs = JobCounts()
        self.busiest: dict[UUID, Counted] = {}

    def count_result(self, tenant_id: UUID, priority: int, lane: int, how: AttemptResult, many: int = 1) -> None:
        """Count one or more attempts with that result."""
        self._row(tenant_id, priority, lane)[how] += many

    def count_delays(self, tenant_id: UUID, priority: int, lane: int, *delays_ms: int) -> None:
        """Count the delays of first attempts that were sent, or handed to a worker."""
        row = self._row(tenant_id, priority, lane)
        self._delays_ms[priority, lane] += sum(delays_ms)
        for delay_ms in delays_ms:
            row[FIRST_BUCKET + bucket_of(delay_ms)] += 1

    def count_held(self, tenant_id: UUID, priority: int, lane: int, delay_ms: int, held_ms: int) -> None:
        """Count the time for which gates held back a first attempt, whose delay without it was counted before.

        Most attempts are not held, so only the difference between the two histograms is kept.
        """
        shifts, row = (
            self._held_shifts.setdefault((priority, lane), [0] * BUCKETS),
            self._row(tenant_id, priority, lane),
        )
        before, after = bucket_of(delay_ms), bucket_of(delay_ms + held_ms)
        shifts[before] -= 1
        shifts[after] += 1
        row[FIRST_SHIFT + before] -= 1
        row[FIRST_SHIFT + after] += 1
        self._held_ms[priority, lane] += held_ms

    def take(self, most: int) -> dict[Class, Counted]:
        """Return all counts and start again from zero. Rows beyond the `most` busiest are added up without a tenant."""
        counts, self._counts = self._counts, {}
        _add(self._taken, counts, 1)
        self.busiest = _busiest(counts)
        busiest = sorted(counts.items(), key=lambda item: -sum(item[1]))
        found = {Class(*key): row for key, row in busiest[:most]}
        for (_, priority, lane), row in busiest[most:]:
            rest = found.setdefault(Class(NOBODY, priority, lane), [0] * len(row))
            rest[:] = [a + b for a, b in zip(rest, row, strict=True)]
        return found

    def give_back(self, counts: dict[Class, Counted]) -> None:
        """Add counts that could not be written, so that they are written with the next ones."""
        for key, row in counts.items():
            kept = self._row(key.tenant_id, key.priority, key.lane)
            kept[:] = [a + b for a, b in zip(kept, row, strict=True)]
        _add(self._taken, {(key.tenant_id, key.priority, key.lane): row for key, row in counts.items()}, -1)

    def totals(self) -> dict[tuple[int, int], Counted]:
        """Everything that was counted since the process began, by priority and lane."""
        totals = {key: list(row) for key, row in self._taken.items()}
        _add(totals, self._counts, 1)
        return totals

    def delay_sum_s(self, priority: int, lane: int) -> float:
        """The sum of all delays since the process began, in seconds."""
        return self._delays_ms[priority, lane] / 1000

    def delays_with_held(self, priority: int, lane: int, delays: Sequence[int]) -> tuple[Counted, float]:
        """The histogram of delays and their sum in seconds, both with the time for which gates held attempts back."""
        shifts = self._held_shifts.get((priority, lane), [0] * BUCKETS)
        total_ms = self._delays_ms[priority, lane] + self._held_ms[priority, lane]
        return [many + shift for many, shift in zip(delays, shifts, strict=True)], total_ms / 1000

    def _row(self, tenant_id: UUID, priority: int, lane: int) -> Counted:
        row = self._counts.get((tenant_id, priority, lane))
        if row is None:
            row = self._counts[tenant_id, priority, lane] = [0] * (FIRST_SHIFT + BUCKETS)
        return row


def _add(totals: dict[tuple[int, int], Counted], counts: Mapping[tuple[UUID, int, int], Counted], sign: int) -> None:
    for (_, priority, lane), row in counts.items():
        total = totals.setdefault((priority, lane), [0] * len(row))
        total[:] = [a + sign * b for a, b in zip(total, row, strict=True)]


def _busiest(counts: Mapping[tuple[UUID, int, int], Counted]) -> dict[UUID, Counted]:
    """The results of the tenants with the most attempts, over all classes."""
    results: dict[UUID, Counted] = {}
    for (tenant_id, _, _), row in counts.items():
        total = results.setdefault(tenant_id, [0] * FIRST_BUCKET)
        total[:] = [a + b for a, b in zip(total, row[:FIRST_BUCKET], strict=True)]
    return busiest_of(results)


def busiest_of(results: Mapping[UUID, Counted]) -> dict[UUID, Counted]:
    """The tenants with the most attempts."""
    return dict(sorted(results.items(), key=lambda item: -sum(item[1]))[:BUSIEST_TENANTS])
