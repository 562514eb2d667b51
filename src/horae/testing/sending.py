"""A sender that remembers what it sends, so that the receiver can identify a request by its idempotency key."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from horae.delivery.client import Client
from horae.delivery.push import Delivery, EgressOf, Sender
from horae.domain.ids import Prefix, public
from horae.domain.instances.instances import Instance
from horae.domain.jobs.jobs import Job

UNKNOWN: Final[dict[str, Any]] = {"job": "", "instance": "", "fire_time": datetime(1970, 1, 1, tzinfo=UTC)}


class RememberingSender(Sender):
    """Sends like `Sender`, and remembers each attempt."""

    def __init__(self, client: Client, *, egress_of: EgressOf) -> None:
        super().__init__(client, egress_of=egress_of)
        self._sent: dict[str, dict[str, Any]] = {}

    def push(self, ran: Instance, job: Job, done: Callable[[Delivery], None]) -> None:
        """Send one attempt."""
        self._remember(ran, job)
        super().push(ran, job, done)

    def push_batch(self, runs: Sequence[Instance], job: Job, done: Callable[[list[Delivery]], None]) -> None:
        """Send several attempts of one job version in one request."""
        for ran in runs:
            self._remember(ran, job)
        super().push_batch(runs, job, done)

    def about(self, key: str) -> dict[str, Any]:
        """The job, instance and fire time of an idempotency key; empty values for an unknown key."""
        return self._sent.get(key, UNKNOWN)

    def _remember(self, ran: Instance, job: Job) -> None:
        facts = {"job": job.name, "instance": public(Prefix.INSTANCE, ran.id)}
        self._sent[ran.idem_key] = facts | {"fire_time": ran.fire_time, "key": ran.business_key}
