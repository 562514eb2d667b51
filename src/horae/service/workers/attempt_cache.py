"""Attempts that this process handed out lately. A worker that reports to the same process saves the read of its row.

The memory is a hint. The write that follows names the attempt and the token of the row, so a stale entry, or a report
to another process, costs one read and nothing else.
"""

import hmac
from collections.abc import Sequence
from datetime import datetime
from itertools import islice, takewhile
from typing import Final
from uuid import UUID

import msgspec
from msgspec.structs import force_setattr

from horae.domain.instances.instances import Instance
from horae.domain.workers.workers import ClaimedAttempt
from horae.runtime.clock import boottime

MOST_KEPT: Final = 50_000
"""Attempts that a process remembers, of all tenants together; each takes about 1 kB."""
MOST_OF_TENANT: Final = 20_000
"""Attempts of one tenant that a process remembers."""
ATTEMPT_KEPT_S: Final = 600.0
"""Seconds after the claim for which an attempt is remembered; a later report costs a read."""


class HandedAttempt(msgspec.Struct, frozen=True, gc=False):
    """An attempt that a worker holds, its completion token (`proof`) and the time of the claim.

    `alone`: its end changes no other row. `until` is a tick of CLOCK_BOOTTIME at which it is forgotten.
    """

    proof: str
    ran: Instance
    since: datetime
    alone: bool
    until: float


class HandedAttempts:
    """The attempts that one process remembers. Number and time are bounded, and the oldest are forgotten first.

    When all tenants together have too many, the tenant with the most loses some.
    """

    def __init__(self) -> None:
        self._kept: dict[UUID, dict[str, HandedAttempt]] = {}
        self._many = 0

    def __len__(self) -> int:
        return self._many

    def keep(self, handed: Sequence[tuple[ClaimedAttempt, Instance, bool]]) -> None:
        """Remember attempts whose claim is committed. All of them are of one tenant."""
        if not handed:
            return
        kept = self._kept.setdefault(handed[0][1].tenant_id, {})
        before, until = len(kept), boottime() + ATTEMPT_KEPT_S
        for one, ran, alone in handed:
            force_setattr(ran, "payload", None)  # the worker has it, and no result needs it
            kept.pop(one.public_id, None)  # keeps the dictionary in the order of time
            kept[one.public_id] = HandedAttempt(one.token, ran, one.claimed_at, alone, until)
        self._many += len(kept) - before
        self._drop(kept, len(kept) - MOST_OF_TENANT)
        if self._many > MOST_KEPT:
            largest = max(self._kept.values(), key=len)
            self._drop(largest, max(self._many - MOST_KEPT, len(largest) // 10))

    def recall(self, tenant_id: UUID, public_id: str, attempt: int, token: str) -> HandedAttempt | None:
        """Returns a remembered attempt whose token is right, and forgets it: it serves one report."""
        kept = self.find(tenant_id, public_id, attempt, token)
        if kept is not None:
            self._drop_one(tenant_id, self._kept[tenant_id], public_id)
        return kept

    def find(self, tenant_id: UUID, public_id: str, attempt: int, token: str) -> HandedAttempt | None:
        """Returns a remembered attempt whose token is right."""
        of_tenant = self._kept.get(tenant_id)
        kept = None if of_tenant is None else of_tenant.get(public_id)
        if kept is None:
            return None
        ran = kept.ran
        if ran.attempt != attempt or ran.tenant_id != tenant_id or kept.until < boottime():
            return None
        if not token.isascii() or not hmac.compare_digest(kept.proof, token):
            return None
        return kept

    def forget_old(self) -> None:
        """Forget the attempts that were not reported in time."""
        now = boottime()
        for tenant_id, kept in list(self._kept.items()):
            old = sum(1 for _ in takewhile(lambda one: one.until < now, kept.values()))
            self._drop(kept, old)
            if not kept:
                del self._kept[tenant_id]

    def _drop_one(self, tenant_id: UUID, kept: dict[str, HandedAttempt], public_id: str) -> None:
        del kept[public_id]
        self._many -= 1
        if not kept:
            del self._kept[tenant_id]

    def _drop(self, kept: dict[str, HandedAttempt], many: int) -> None:
        for public_id in list(islice(kept, max(many, 0))):
            del kept[public_id]
            self._many -= 1
