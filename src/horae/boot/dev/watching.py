"""Looking over a node's shoulder: what comes of each attempt is told the moment it is known."""

from collections.abc import Callable
from datetime import datetime, timedelta

from horae.delivery.client import Client
from horae.delivery.push import Delivered, Sender
from horae.delivery.secrets import Secrets
from horae.domain.instances import Instance
from horae.domain.jobs import Job
from horae.store.cells import Store

Told = Callable[[datetime, timedelta, Instance, Job, Delivered], None]
"""Hears when an attempt ended, how late it was sent, and what came of it."""


class Watched(Sender):
    """Sends like any other. A node without a watcher has none of this in its way."""

    def __init__(self, client: Client, secrets: Secrets, store: Store, told: Told) -> None:
        super().__init__(client, secrets)
        self.store = store
        self.told = told

    def push(self, ran: Instance, job: Job, done: Callable[[Delivered], None]) -> None:
        """Send one attempt, and tell of it before the node goes on."""
        clock = self.store.cell(ran.shard).clock
        late = clock.now() - ran.due_at

        def heard(delivered: Delivered) -> None:
            self.told(clock.now(), late, ran, job, delivered)
            done(delivered)

        super().push(ran, job, heard)
