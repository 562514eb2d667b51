"""A sender that remembers what it sends, so that a request can be told apart by its idempotency key alone."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from horae.delivery.client import Client
from horae.delivery.push import Delivered, Sender
from horae.delivery.secrets import Secrets
from horae.domain.ids import Prefix, public
from horae.domain.instances import Instance
from horae.domain.jobs import Job

UNKNOWN: Final[dict[str, Any]] = {"job": "", "instance": "", "fire_time": datetime(1970, 1, 1, tzinfo=UTC)}


class Remembering(Sender):
    """Sends like any other."""

    def __init__(self, client: Client, secrets: Secrets | None = None) -> None:
        super().__init__(client, secrets)
        self._sent: dict[str, dict[str, Any]] = {}

    def push(self, ran: Instance, job: Job, done: Callable[[Delivered], None]) -> None:
        """Send one attempt."""
        self._remember(ran, job)
        super().push(ran, job, done)

    def push_batch(self, runs: Sequence[Instance], job: Job, done: Callable[[list[Delivered]], None]) -> None:
        """Send several attempts of one job version in one request."""
        for ran in runs:
            self._remember(ran, job)
        super().push_batch(runs, job, done)

    def about(self, key: str) -> dict[str, Any]:
        """What stands behind an idempotency key; of what we never sent, nothing."""
        return self._sent.get(key, UNKNOWN)

    def _remember(self, ran: Instance, job: Job) -> None:
        facts = {"job": job.name, "instance": public(Prefix.INSTANCE, ran.id)}
        self._sent[ran.idem_key] = facts | {"fire_time": ran.fire_time, "key": ran.business_key}
