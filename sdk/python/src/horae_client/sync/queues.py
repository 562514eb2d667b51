"""Queues, and the workers that poll them."""

from collections.abc import Mapping, Sequence
from typing import Any

from horae_client.asked import workers as asked
from horae_client.models import DrainedWorker, HeardAll, QueueStatus, QueueWorker, ReportedAll, Works
from horae_client.sync.verbs import Items, Verbs


class Queues(Verbs):
    """The queues: where instances of jobs without a URL or topic wait for a worker."""

    def list(self, *, name: str | None = None, limit: int | None = None) -> Items[QueueStatus]:
        """List the queues by name, or the one with this name: what waits, who polls, which jobs use it.

        `unattended` is true where instances wait and no worker takes them.

        >>> made = client.jobs.create("print_job", target={"kind": "queue", "name": "printers"})
        >>> [(one.name, one.waiting, one.unattended) for one in client.queues.list(name="printers")]
        [('printers', 0, False)]
        """
        return self._pages(asked.queues(name), limit)


class Workers(Verbs):
    """The workers: processes that poll queues. `horae_client.Worker` is a worker; here are its single requests."""

    def list(
        self, *, queue: str | None = None, polling: bool | None = None, limit: int | None = None
    ) -> Items[QueueWorker]:
        """List the workers that polled within the last hour, by queue; with `polling=True` those that poll now.

        >>> [one.worker_id for one in client.workers.list(queue="printers", polling=True)]
        []
        """
        return self._pages(asked.workers(queue, polling), limit)

    def drain(self, worker_id: str, reason: str) -> DrainedWorker:
        """Give a worker no new work; what it holds goes on. It is named as it is listed.

        It stays drained until it is resumed, or until an hour after its last poll.

        >>> from horae_client.errors import NotFound
        >>> try:
        ...     done = client.workers.drain("host-9/4711", "the host is replaced")
        ... except NotFound:
        ...     print("nobody of this id polled within the last hour")
        nobody of this id polled within the last hour
        """
        return self._ask(asked.drain(worker_id, reason))

    def resume(self, worker_id: str) -> DrainedWorker:
        """Give a drained worker work again, from its next poll on.

        >>> from horae_client.errors import NotFound
        >>> try:
        ...     done = client.workers.resume("host-9/4711")
        ... except NotFound:
        ...     print("nobody of this id polled within the last hour")
        nobody of this id polled within the last hour
        """
        return self._ask(asked.resume(worker_id))

    def poll(self, queue: str, worker_id: str, *, limit: int = 1, wait: float = 0.0) -> Works:
        """Claim up to `limit` due attempts of a queue; wait up to `wait` seconds for the first one.

        >>> made = client.jobs.trigger("coupon_job")
        >>> taken = client.workers.poll("coupon_job", "worker-1")
        >>> [one.attempt for one in taken.items]
        [1]
        """
        return self._ask(asked.poll(queue, worker_id, limit, wait))

    def heartbeat(self, items: Sequence[Mapping[str, Any]]) -> HeardAll:
        """Extend the deadlines of claimed attempts. An item has `instance_id`, `attempt` and `token`.

        >>> made = client.jobs.trigger("coupon_job")
        >>> taken = client.workers.poll("coupon_job", "worker-1")
        >>> held = [{"instance_id": one.instance_id, "attempt": one.attempt, "token": one.token} for one in taken.items]
        >>> heard = client.workers.heartbeat(held)
        >>> [one.yours for one in heard.items]
        [True]
        """
        return self._ask(asked.heartbeat(items))

    def finish(self, items: Sequence[Mapping[str, Any]]) -> ReportedAll:
        """Report that attempts succeeded. An item has `instance_id`, `attempt` and `token`.

        >>> made = client.jobs.trigger("coupon_job")
        >>> taken = client.workers.poll("coupon_job", "worker-1")
        >>> held = [{"instance_id": one.instance_id, "attempt": one.attempt, "token": one.token} for one in taken.items]
        >>> done = client.workers.finish(held)
        >>> [one.verdict for one in done.items]
        ['done']
        """
        return self._ask(asked.finish(items))

    def log(self, items: Sequence[Mapping[str, Any]]) -> ReportedAll:
        """Append log lines of running attempts. An item also has `lines`, and the number of the `first` one.

        >>> made = client.jobs.trigger("coupon_job")
        >>> taken = client.workers.poll("coupon_job", "worker-1")
        >>> held = [{"instance_id": one.instance_id, "attempt": one.attempt, "token": one.token} for one in taken.items]
        >>> line = {"at": "2026-11-18T08:00:00Z", "text": "page 4 of 10", "level": "info"}
        >>> done = client.workers.log([one | {"first": 0, "lines": [line]} for one in held])
        >>> [one.verdict for one in done.items]
        ['done']
        """
        return self._ask(asked.logs(items))

    def fail(self, items: Sequence[Mapping[str, Any]]) -> ReportedAll:
        """Report that attempts failed. An item also has a `message`, and `retryable` (default: true).

        >>> made = client.jobs.trigger("coupon_job")
        >>> taken = client.workers.poll("coupon_job", "worker-1")
        >>> held = [{"instance_id": one.instance_id, "attempt": one.attempt, "token": one.token} for one in taken.items]
        >>> done = client.workers.fail([one | {"message": "no such coupon"} for one in held])
        >>> [one.verdict for one in done.items]
        ['done']
        """
        return self._ask(asked.fail(items))
