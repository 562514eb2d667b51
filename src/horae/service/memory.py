"""What a process remembers for all its callers together: each kind has one bound, however many tenants come."""

import asyncio
from collections import defaultdict
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.counts import CountBounds
from horae.runtime.clock import boottime
from horae.runtime.heavy import HeavyTurns
from horae.security.sealing import Sealing
from horae.service.handed import Handed
from horae.service.types import Known
from horae.store.definitions import Definitions, KnownVersions

MOST_VERSIONS: Final = 20_000
"""Job versions that an API process remembers."""
MOST_VERSION_BYTES: Final = 128 * 2**20
"""What they take as JSON; in memory it is about three times as much."""


class JobCount(NamedTuple):
    """How many jobs a tenant had, until when that is good enough, and how many were made here since."""

    counted: int
    until: float
    made: int = 0


class Memory:
    """One per process. It holds hints and copies only: what is forgotten is read again."""

    def __init__(self) -> None:
        self.job_counts: dict[UUID, JobCount] = {}
        self.bounds: dict[UUID, tuple[float, CountBounds]] = {}
        self.types: Known = {}
        self.raising: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)  # by cell, see `service.places`
        self.contended: dict[tuple[str, UUID], float] = {}
        self.handed = Handed()
        self.heavy = HeavyTurns()
        self.versions = KnownVersions(MOST_VERSIONS, MOST_VERSION_BYTES)

    def definitions(self, sealing: Sealing, tenant_id: UUID) -> Definitions:
        """The versions of one tenant's jobs, in the memory of all."""
        return Definitions(sealing, self.versions, tenant_id)

    def forget_old(self) -> None:
        """Let go of what would be read again anyway, and of what nobody came for."""
        now = boottime()
        self.handed.forget_old()
        self.job_counts = {tenant: one for tenant, one in self.job_counts.items() if one.until > now}
        self.bounds = {tenant: one for tenant, one in self.bounds.items() if one[0] > now}
        self.contended = {place: until for place, until in self.contended.items() if until > now}
