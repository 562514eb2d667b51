"""What this process handed out lately, by instance: a hint that saves reading a row when its worker reports it here.

The write that follows names the attempt and the row's own token, so a hint that is stale, or that another process never
had, costs a read and nothing else.
"""

import hmac
from collections.abc import Iterable
from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec
from msgspec.structs import force_setattr

from horae.domain.instances import Instance
from horae.domain.workers import Claimed

MOST: Final = 20_000


class Kept(msgspec.Struct, frozen=True, gc=False):
    """An attempt in a worker's hands, what proves it, and since when. `alone`: its end changes nothing else."""

    proof: str
    ran: Instance
    since: datetime
    alone: bool


class Handed:
    """Bounded: the oldest go first."""

    def __init__(self) -> None:
        self._kept: dict[str, Kept] = {}

    def keep(self, handed: Iterable[tuple[Claimed, Instance, bool]]) -> None:
        """These were handed out, and that is committed."""
        kept = self._kept
        for one, ran, alone in handed:
            force_setattr(ran, "payload", None)  # it was handed out, and no end needs it
            kept[one.shown_id] = Kept(one.token, ran, one.claimed_at, alone)
        for _ in range(len(kept) - MOST):
            del kept[next(iter(kept))]

    def recall(self, tenant_id: UUID, shown_id: str, attempt: int, token: str) -> Kept | None:
        """An attempt that is remembered and whose proof is right; it is remembered for one report."""
        kept = self._kept.get(shown_id)
        if kept is None:
            return None
        ran = kept.ran
        if ran.attempt != attempt or ran.tenant_id != tenant_id:
            return None
        if not token.isascii() or not hmac.compare_digest(kept.proof, token):
            return None
        del self._kept[shown_id]
        return kept
