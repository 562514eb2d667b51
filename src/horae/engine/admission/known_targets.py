"""The targets that an admission knows. Idle ones are forgotten when there are many."""

from collections.abc import Callable, Collection
from typing import Final
from uuid import UUID

from horae.domain.jobs.jobs import Job
from horae.domain.targets.targets import PUSHED, is_long
from horae.engine.admission.slots import LongSlots
from horae.engine.admission.target import Target

MAX_IDLE_TARGETS: Final = 50_000


class KnownTargets:
    """One `Target` for each tenant and address, and another one for long calls, which have slots of their own.

    `see` hears of the tenant of each new target.
    """

    def __init__(self, see: Callable[[UUID], None], long: LongSlots[Target]) -> None:
        self._see = see
        self._long = long
        self._targets: dict[tuple[UUID, str, bool], Target] = {}
        self._most = MAX_IDLE_TARGETS

    @property
    def all(self) -> Collection[Target]:
        """Every known target."""
        return self._targets.values()

    def find(self, job: Job) -> Target | None:
        """Return the target of a job; None if it is not known."""
        made = job.definition.target
        return self._targets.get((job.tenant_id, made.url, is_long(made))) if isinstance(made, PUSHED) else None

    def get(self, job: Job, now: float) -> Target:
        """Return the target of a job; a new one is healthy."""
        made = job.definition.target
        assert isinstance(made, PUSHED)
        key = (job.tenant_id, made.url, long := is_long(made))
        target = self._targets.get(key)
        if target is None:
            if len(self._targets) >= self._most:
                self._forget_idle()
            target = self._targets[key] = Target(now=now, long=self._long if long else None)
            self._see(job.tenant_id)
            if long:
                self._long.tenants.see(job.tenant_id)
        if made.max_concurrency is not None and made.max_concurrency > target.cap:
            target.cap = made.max_concurrency
            if long:
                target.window = target.cap
        return target

    def _forget_idle(self) -> None:
        """Forget idle targets. It runs again only after the number in use has doubled, so the cost is amortised."""
        self._targets = {key: target for key, target in self._targets.items() if not target.idle}
        self._most = max(MAX_IDLE_TARGETS, 2 * len(self._targets))
