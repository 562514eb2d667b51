"""What this process did in one cell, counted in memory until it is written once a minute."""

from uuid import UUID

from horae.domain.signals import BUCKETS, NOBODY, Class, Ending, bucket_of

FIRST_BUCKET = len(Ending)
Counted = list[int]


class Tally:
    """A row of counts per tenant and class: how attempts ended, then how late first ones were."""

    def __init__(self) -> None:
        self._counts: dict[tuple[UUID, int, int], Counted] = {}

    def ended(self, tenant_id: UUID, priority: int, lane: int, how: Ending, many: int = 1) -> None:
        """An attempt came to that, or many did."""
        self._row(tenant_id, priority, lane)[how] += many

    def delayed(self, tenant_id: UUID, priority: int, lane: int, *delays_ms: int) -> None:
        """First attempts were sent, or handed to a worker, so late."""
        row = self._row(tenant_id, priority, lane)
        for delay_ms in delays_ms:
            row[FIRST_BUCKET + bucket_of(delay_ms)] += 1

    def take(self, most: int) -> dict[Class, Counted]:
        """Everything counted so far, and begin anew; what lies beyond the `most` busiest is nobody's in particular."""
        counts, self._counts = self._counts, {}
        busiest = sorted(counts.items(), key=lambda item: -sum(item[1]))
        found = {Class(*key): row for key, row in busiest[:most]}
        for (_, priority, lane), row in busiest[most:]:
            rest = found.setdefault(Class(NOBODY, priority, lane), [0] * len(row))
            rest[:] = [a + b for a, b in zip(rest, row, strict=True)]
        return found

    def give_back(self, counts: dict[Class, Counted]) -> None:
        """They could not be written: count them with the next."""
        for key, row in counts.items():
            kept = self._row(key.tenant_id, key.priority, key.lane)
            kept[:] = [a + b for a, b in zip(kept, row, strict=True)]

    def _row(self, tenant_id: UUID, priority: int, lane: int) -> Counted:
        row = self._counts.get((tenant_id, priority, lane))
        if row is None:
            row = self._counts[tenant_id, priority, lane] = [0] * (FIRST_BUCKET + BUCKETS)
        return row
