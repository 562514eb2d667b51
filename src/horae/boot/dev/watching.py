"""Reports the result of each attempt of a node as soon as it is known."""

from collections.abc import Callable
from datetime import datetime, timedelta

from horae.delivery.broker_connections import Lines
from horae.delivery.client import Client
from horae.delivery.push import Delivery, EgressOf, Sender
from horae.delivery.secrets import Secrets
from horae.domain.instances.instances import Instance
from horae.domain.jobs.jobs import Job
from horae.runtime.tracing import Tracer
from horae.store.store import Store

OnResult = Callable[[datetime, timedelta, Instance, Job, Delivery], None]
"""Called with the time when an attempt ended, how late it was sent, and its result."""


class WatchedSender(Sender):
    """A sender that reports each result. A node without a watcher uses the plain sender and pays nothing for this."""

    def __init__(
        self,
        client: Client,
        secrets: Secrets,
        *,
        store: Store,
        on_result: OnResult,
        egress_of: EgressOf,
        lines: Lines,
        tracer: Tracer | None = None,
    ) -> None:
        super().__init__(client, secrets, egress_of=egress_of, lines=lines, tracer=tracer)
        self.store = store
        self.on_result = on_result

    def push(self, ran: Instance, job: Job, done: Callable[[Delivery], None]) -> None:
        """Send one attempt, and report its result before the node continues."""
        clock = self.store.cell(ran.shard).clock
        late = clock.now() - ran.due_at

        def heard(delivered: Delivery) -> None:
            self.on_result(clock.now(), late, ran, job, delivered)
            done(delivered)

        super().push(ran, job, heard)
