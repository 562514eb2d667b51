"""The memory that all callers of a process share. Each kind has one bound, for all tenants together."""

import asyncio
from collections import defaultdict
from itertools import count
from typing import Any, Final, NamedTuple
from uuid import UUID

from horae.domain.health.service_level import DEFAULT_OBJECTIVE_SHARE
from horae.domain.limits.shares import DEFAULT_BACKFILL_SLOTS
from horae.domain.targets.egress import Egress
from horae.domain.tenants.tenants import Allowance
from horae.repositories.definitions import Definitions, KnownVersions
from horae.repositories.job_durations import JobDurations
from horae.runtime.clock import boottime
from horae.runtime.gathering import Groups
from horae.runtime.heavy import HeavyTurns
from horae.runtime.tracing import Tracer
from horae.security.payload_cipher import PayloadCipher
from horae.service.instances.archive_reader import ArchiveReader
from horae.service.instances.log_usage import LogUsage
from horae.service.instances.log_wakers import LogWakers
from horae.service.tasks.types import Known
from horae.service.workers.answer_sizes import AnswerSizes
from horae.service.workers.attempt_cache import HandedAttempts

MOST_VERSIONS: Final = 20_000
"""Job versions that an API process remembers."""
MOST_VERSION_BYTES: Final = 128 * 2**20
"""Bytes of the remembered job versions as JSON; in memory they take about three times as much."""


class JobCount(NamedTuple):
    """The number of a tenant's jobs when counted, until when it is valid, and how many this process created since."""

    counted: int
    until: float
    made: int = 0


class Memory:
    """The memory of one process. It holds hints and copies only: what is forgotten is read again.

    `archive` reads the days that PostgreSQL no longer has; None where no archive is configured. `objective` is the part
    of all due times that the deployment wants to be in time. `tracer` records spans; None where there are no traces.
    `egress` are the egress rules of the deployment; None in a process that does not know them. `backfill_slots` are the
    slots that backfills may use on one node.
    """

    def __init__(
        self,
        archive: ArchiveReader | None = None,
        objective: float = DEFAULT_OBJECTIVE_SHARE,
        tracer: Tracer | None = None,
        egress: Egress | None = None,
        backfill_slots: int = DEFAULT_BACKFILL_SLOTS,
    ) -> None:
        self.archive = archive
        self.objective = objective
        self.tracer = tracer
        self.egress = egress
        self.backfill_slots = backfill_slots
        self.claims = count(1)
        """The numbers of the claims of workers."""
        self.job_counts: dict[UUID, JobCount] = {}
        self.allowances: dict[UUID, tuple[float, Allowance]] = {}
        self.types: Known = {}
        self.raising: defaultdict[str, asyncio.Lock] = defaultdict(
            asyncio.Lock
        )  # by cell, see `service.tenants.places`
        self.contended: dict[tuple[str, UUID], float] = {}
        self.handed = HandedAttempts()
        self.log_usage = LogUsage()
        self.tails = LogWakers()
        self.answer_sizes = AnswerSizes()
        self.durations = JobDurations()
        self.heavy = HeavyTurns()
        self.puts: Groups[Any, Any] = Groups()  # see `service.tasks.gathered`
        self.versions = KnownVersions(MOST_VERSIONS, MOST_VERSION_BYTES)

    def definitions(self, cipher: PayloadCipher, tenant_id: UUID) -> Definitions:
        """Returns the job versions of one tenant, in the shared memory."""
        return Definitions(cipher, self.versions, tenant_id)

    def forget_old(self) -> None:
        """Forget entries that are no longer valid."""
        now = boottime()
        self.handed.forget_old()
        self.log_usage.forget_old()
        self.job_counts = {tenant: one for tenant, one in self.job_counts.items() if one.until > now}
        self.allowances = {tenant: one for tenant, one in self.allowances.items() if one[0] > now}
        self.contended = {place: until for place, until in self.contended.items() if until > now}
