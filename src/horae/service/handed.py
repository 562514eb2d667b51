"""What this process handed out lately, by instance: a hint that saves reading a row when its worker reports it here.

The write that follows names the attempt and the row's own token, so a hint that is stale, or that another process never
had, costs a read and nothing else.
"""

import hmac
from collections.abc import Sequence
from datetime import datetime
from itertools import islice, takewhile
from typing import Final
from uuid import UUID

import msgspec
from msgspec.structs import force_setattr

from horae.domain.instances import Instance
from horae.domain.workers import Claimed
from horae.runtime.clock import boottime

MOST_KEPT: Final = 50_000
"""Attempts that a process remembers, of all tenants together: about 1 kB each."""
MOST_OF_TENANT: Final = 20_000
KEPT_FOR_S: Final = 600.0
"""Whoever reports later than this after the claim costs a read."""


class Kept(msgspec.Struct, frozen=True, gc=False):
    """An attempt in a worker's hands, what proves it, and since when. `alone`: its end changes nothing else.

    `until` is a tick of CLOCK_BOOTTIME: then it is forgotten.
    """

    proof: str
    ran: Instance
    since: datetime
    alone: bool
    until: float


class Handed:
    """One per process. Bounded in number, per tenant and in all, and in time: the oldest go first.

    Where all tenants together have too many, the one with most of them loses its own.
    """

    def __init__(self) -> None:
        self._kept: dict[UUID, dict[str, Kept]] = {}
        self._many = 0

    def __len__(self) -> int:
        return self._many

    def keep(self, handed: Sequence[tuple[Claimed, Instance, bool]]) -> None:
        """These were handed out, and that is committed. All of them are of one tenant."""
        if not handed:
            return
        kept = self._kept.setdefault(handed[0][1].tenant_id, {})
        before, until = len(kept), boottime() + KEPT_FOR_S
        for one, ran, alone in handed:
            force_setattr(ran, "payload", None)  # it was handed out, and no end needs it
            kept.pop(one.shown_id, None)  # so that the order is that of time
            kept[one.shown_id] = Kept(one.token, ran, one.claimed_at, alone, until)
        self._many += len(kept) - before
        self._drop(kept, len(kept) - MOST_OF_TENANT)
        if self._many > MOST_KEPT:
            largest = max(self._kept.values(), key=len)
            self._drop(largest, max(self._many - MOST_KEPT, len(largest) // 10))

    def recall(self, tenant_id: UUID, shown_id: str, attempt: int, token: str) -> Kept | None:
        """An attempt that is remembered and whose proof is right; it is remembered for one report."""
        of_tenant = self._kept.get(tenant_id)
        kept = None if of_tenant is None else of_tenant.get(shown_id)
        if of_tenant is None or kept is None:
            return None
        ran = kept.ran
        if ran.attempt != attempt or ran.tenant_id != tenant_id or kept.until < boottime():
            return None
        if not token.isascii() or not hmac.compare_digest(kept.proof, token):
            return None
        self._drop_one(tenant_id, of_tenant, shown_id)
        return kept

    def forget_old(self) -> None:
        """Let go of what nobody reported in time."""
        now = boottime()
        for tenant_id, kept in list(self._kept.items()):
            old = sum(1 for _ in takewhile(lambda one: one.until < now, kept.values()))
            self._drop(kept, old)
            if not kept:
                del self._kept[tenant_id]

    def _drop_one(self, tenant_id: UUID, kept: dict[str, Kept], shown_id: str) -> None:
        del kept[shown_id]
        self._many -= 1
        if not kept:
            del self._kept[tenant_id]

    def _drop(self, kept: dict[str, Kept], many: int) -> None:
        for shown_id in list(islice(kept, max(many, 0))):
            del kept[shown_id]
            self._many -= 1
