"""Queues, and the workers that poll them."""

from horae_client.asked import workers as asked
from horae_client.models import Queue, QueueWorker
from horae_client.sync.verbs import Items, Verbs


class Queues(Verbs):
    """The queues: where instances of jobs without a URL or topic wait for a worker."""

    def list(self, *, name: str | None = None, limit: int | None = None) -> Items[Queue]:
        """List the queues by name, or the one with this name: what waits, who polls, which jobs use it.

        `unattended` is true where instances wait and no worker takes them.

        >>> made = client.jobs.create("print_job", target={"kind": "queue", "name": "printers"})
        >>> [(one.name, one.waiting, one.unattended) for one in client.queues.list(name="printers")]
        [('printers', 0, False)]
        """
        return self._pages(asked.queues(name), limit)


class Workers(Verbs):
    """The workers: processes that poll queues."""

    def list(
        self, *, queue: str | None = None, polling: bool | None = None, limit: int | None = None
    ) -> Items[QueueWorker]:
        """List the workers that polled within the last hour, by queue; with `polling=True` those that poll now.

        >>> [one.worker_id for one in client.workers.list(queue="printers", polling=True)]
        []
        """
        return self._pages(asked.workers(queue, polling), limit)
