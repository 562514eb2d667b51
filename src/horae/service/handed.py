"""What this process handed out lately, by instance: a hint that saves reading a row when its worker reports it here.

The write that follows names the attempt and the row's own token, so a hint that is stale, or that another process never
had, costs a read and nothing else.
"""

import hmac
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Final, NamedTuple
from uuid import UUID

from msgspec.structs import force_setattr

from horae.domain.instances import Instance
from horae.domain.workers import Claimed, Finish
from horae.store.workers import Running

MOST: Final = 20_000
NONE: Final = timedelta()


class Kept(NamedTuple):
    """An attempt in a worker's hands, and what proves it."""

    proof: str
    running: Running


class Handed:
    """Bounded: the oldest go first."""

    def __init__(self) -> None:
        self._kept: dict[UUID, Kept] = {}

    def keep(self, handed: Iterable[Claimed], rows: Sequence[Instance]) -> None:
        """These were handed out, and that is committed."""
        ran_of = {ran.id: ran for ran in rows}
        for one in handed:
            ran = ran_of[one.instance_id]
            force_setattr(ran, "payload", None)  # it was handed out, and no end needs it
            self._kept[ran.id] = Kept(one.token, Running(ran, one.claimed_at, NONE))
        for _ in range(len(self._kept) - MOST):
            del self._kept[next(iter(self._kept))]

    def recall(self, tenant_id: UUID, reports: Iterable[Finish]) -> dict[Finish, Running]:
        """Those that are remembered and whose proof is right; each is remembered for one report."""
        found = {}
        for one in reports:
            kept = self._kept.get(one.instance_id)
            if kept is None or kept.running.ran.attempt != one.attempt or kept.running.ran.tenant_id != tenant_id:
                continue
            if hmac.compare_digest(kept.proof.encode(), one.token.encode()):
                found[one] = kept.running
                del self._kept[one.instance_id]
        return found
