"""Workers: they claim due tasks from a queue, run your handler and report the outcome.

A handler is a function or a coroutine function of one argument, the context. A return means success. `Retry`, `Snooze`,
`Unrecoverable` and `Declined`, raised or returned, mean something else. Any other exception is a failure, which is
retried by the job's retry policy.
"""

import asyncio
import logging
import os
import signal
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final, TypeVar
from uuid import uuid4

from horae_client import errors
from horae_client.asked import workers as asked
from horae_client.client import AsyncClient
from horae_client.logs import CURRENT, LogHandler
from horae_client.models import Works
from horae_client.outcomes import Outcome
from horae_client.traces import handler_span
from horae_client.wire import MAX_RETRY_AFTER_S
from horae_client.work.context import Context
from horae_client.work.held import Held, HeldAttempts, seconds_left
from horae_client.work.kinds import Handler, Kind
from horae_client.work.logs import LogSender
from horae_client.work.reports import Heard, Reports, report_of, result_item, return_item, success_item
from horae_client.work.runners import Runners
from horae_client.work.threads import Threads

__all__ = ["Context", "Worker"]
log = logging.getLogger("horae_client.worker")
Some = TypeVar("Some", bound=Handler)
MOST: Final = 1000
LATER: Final = 30.0


class Worker:
    """Serves some types in one process, until it is stopped.

    `concurrency` is the maximum number of handlers that run at once; a type may have less. `name` identifies the
    process in the history. `wait` is how many seconds a poll may wait for a task, and `grace` how many seconds handlers
    may continue after the worker is stopped.

    A person may drain the worker (`horae worker drain NAME`): it gets no new tasks, and finishes those that it has.
    Then it waits until it is resumed; with `stop_when_drained` it stops. `drained` says whether it is.

    >>> from horae_client import Worker
    >>> worker = Worker(url, key, wait=0.2)
    >>> @worker.task("ARTICLE_PUBLISH")
    ... async def publish(ctx):
    ...     print("published", ctx.key, "attempt", ctx.attempt)
    ...     worker.stop()
    >>> put = await client.tasks.schedule("ARTICLE_PUBLISH", "article-42")
    >>> await worker.serve()
    published article-42 attempt 1
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        name: str | None = None,
        concurrency: int = 100,
        wait: float = 5.0,
        grace: float = 25.0,
        stop_when_drained: bool = False,
    ) -> None:
        self.name = name or f"{socket.gethostname()}/{os.getpid()}/{uuid4().hex[:8]}"
        self.concurrency, self.wait, self.grace = concurrency, wait, grace
        self.kinds: dict[str, Kind] = {}
        self.counts = {"done": 0, "late": 0, "refused": 0, "returned": 0}
        self._where = url, key
        self.stopping = self.drained = False
        self.stop_when_drained = stop_when_drained
        self._stopped: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def task(
        self, type: str, *, max_concurrency: int | None = None, queue: str | None = None
    ) -> Callable[[Some], Some]:
        """Serve a type with this function. A plain function runs in a thread, a coroutine function on the loop.

        `max_concurrency` is how many handlers of the type run at once in this process; 1 runs them one after the other.
        `queue` is needed if the type's target names another queue than the name of the type.

        >>> from horae_client import Worker
        >>> worker = Worker(url, key)
        >>> @worker.task("ARTICLE_AUDIT", max_concurrency=1)
        ... def audit(ctx):
        ...     ...
        >>> list(worker.kinds)
        ['ARTICLE_AUDIT']
        """

        def register(handler: Some) -> Some:
            if type in self.kinds:
                raise ValueError(f"{type} has a handler already")
            self.kinds[type] = Kind(type, queue or type, handler, max_concurrency)
            return handler

        return register

    def run(self) -> None:
        """Work until SIGTERM or SIGINT: finish running handlers, return tasks that have not started, and return.

        >>> import os, signal, threading
        >>> from horae_client import Worker
        >>> worker = Worker(url, key, wait=0.1)
        >>> @worker.task("ARTICLE_PUBLISH")
        ... def publish(ctx):
        ...     print("published", ctx.key)
        ...     os.kill(os.getpid(), signal.SIGTERM)
        >>> put = client.tasks.schedule("ARTICLE_PUBLISH", "article-42")
        >>> worker.run()
        published article-42
        """
        asyncio.run(self._with_signals())

    def stop(self) -> None:
        """Stop the worker: claim no more, finish running handlers, return the rest. Call it from any thread.

        >>> from horae_client import Worker
        >>> worker = Worker(url, key)
        >>> worker.stop()
        >>> worker.run()
        """
        self.stopping = True
        if self._loop is not None and self._stopped is not None:
            with suppress(RuntimeError):  # it has ended already
                self._loop.call_soon_threadsafe(self._stopped.set)

    async def serve(self) -> None:
        """Like `run`, on your own event loop and without signals: until `stop()`.

        >>> from horae_client import Worker
        >>> worker = Worker(url, key)
        >>> worker.stop()
        >>> await worker.serve()
        """
        self._loop, self._stopped = asyncio.get_running_loop(), asyncio.Event()
        if self.stopping:
            return
        async with AsyncClient(*self._where, timeout=self.wait + 30.0) as client:
            await _Shift(self, client).work(self._stopped)

    async def _with_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.stop)
        try:
            await self.serve()
        finally:
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(number)


class _Shift:
    """One run of a worker, from its first poll to its last report."""

    def __init__(self, worker: Worker, client: AsyncClient) -> None:
        self.worker = worker
        self.client = client
        self.attempts, self.reports = HeldAttempts(client), Reports(client, self._heard)
        self.threads = Threads(worker.concurrency)
        self.logs = LogSender(client)
        self.ending: set[asyncio.Task[None]] = set()
        self.runners = Runners(self._perform)
        self.running = self.waiting = 0
        self.room = asyncio.Event()
        self.quiet = asyncio.Event()
        self.quiet.set()

    async def work(self, stopped: asyncio.Event) -> None:
        """Work until the worker is stopped.

        1. Start the heartbeats, and one poller for each queue.
        2. Wait until `stop()` is called, or a poller or the heartbeats fail.
        3. Let the running polls end; tasks that they still claim are returned.
        4. Return the tasks that have not started. This must come after step 3, or our own poll would claim them again.
        5. Let handlers finish within the grace period, then send all reports.
        6. Raise the error of a poller or of the heartbeats, if there was one.
        """
        queues: dict[str, list[Kind]] = {}
        for kind in self.worker.kinds.values():
            queues.setdefault(kind.queue, []).append(kind)
        beating = asyncio.create_task(self.attempts.beat())
        logging_ = asyncio.create_task(self.logs.run())
        pulling = [asyncio.create_task(self._pull(queue, kinds)) for queue, kinds in queues.items()]
        ended = asyncio.create_task(stopped.wait())
        try:
            await asyncio.wait([ended, beating, *pulling], return_when=asyncio.FIRST_COMPLETED)
            self.worker.stopping = True
            self.room.set()
            pulled = await asyncio.gather(*pulling, return_exceptions=True)  # what a poll still claims is returned
            if beating.done():
                pulled.append(beating.exception())  # without heartbeats no claim can be kept: end with an error
            self._return_waiting()  # only now: our own poll would have claimed them again
            await self._end()
            for error in pulled:
                if error is not None:
                    raise error
        finally:
            for task in (beating, logging_, ended, *pulling):
                task.cancel()
            await asyncio.gather(beating, logging_, ended, *pulling, return_exceptions=True)

    async def _end(self) -> None:
        """Let handlers finish within the grace period; return the tasks of those that do not."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self.worker.grace):
                await self.quiet.wait()
        for one in list(self.attempts.held.values()):
            if one.task is not None:
                self._hand_back(one, "its worker was stopped")
                one.lose()
        await asyncio.sleep(0)
        if self.ending:
            await asyncio.wait(self.ending)  # each is bounded
        if not await self.reports.flush(self.worker.grace):
            log.warning("%d reports were not heard", self.reports.unanswered)

    async def _pull(self, queue: str, kinds: list[Kind]) -> None:
        """Claim as much as there is room for, again and again."""
        pause = 0.25
        while not self.worker.stopping:
            limit = self._room(kinds)
            if limit <= 0:
                self.room.clear()
                if self._room(kinds) <= 0:
                    await self.room.wait()
                continue
            try:
                request = asked.poll(queue, self.worker.name, limit, self.worker.wait)
                works = await self.client.once(request, self.worker.wait + 30.0)
                pause = 0.25
            except (errors.Unauthenticated, errors.Forbidden, errors.Invalid):
                raise  # a retry does not help: a person has to fix it
            except errors.HoraeError as error:
                log.warning("cannot claim from %s, retrying: %s", queue, error)
                asked_for = getattr(error, "retry_after", None) or 0.0
                await self._rest(max(pause, min(asked_for, MAX_RETRY_AFTER_S)))
                pause = min(pause * 2, 30.0)
                continue
            self._note_drained(drained=works.drained)
            self._begin(works)

    def _note_drained(self, *, drained: bool) -> None:
        """A drained worker goes on polling, so that it learns when it is resumed, unless it is to stop."""
        if drained != self.worker.drained:
            self.worker.drained = drained
            log.warning("drained: no new tasks until a person resumes it" if drained else "resumed: claiming again")
        if drained and self.worker.stop_when_drained:
            self.worker.stop()

    async def _rest(self, seconds: float) -> None:
        """Wait, but not longer than until the worker is stopped."""
        self.room.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not self.worker.stopping:
                    await self.room.wait()
                    self.room.clear()

    def _room(self, kinds: list[Kind]) -> int:
        """How many more tasks may be claimed: limited by type, in total, and by the number of unsent reports."""
        most = self.worker.concurrency
        free = most - self.running - self.waiting
        if self.reports.unanswered > 2 * max(most, MOST):
            return 0
        return min(free, MOST, sum(max(0, kind.room(most)) for kind in kinds))

    def _begin(self, works: Works) -> None:
        at, kinds, name = time.monotonic(), self.worker.kinds, self.worker.name
        left = {deadline: seconds_left(deadline, works.now) for deadline in {work.deadline for work in works.items}}
        for work in works.items:
            held = Held(work, Context(work, name, self.logs.begin), at, left[work.deadline])
            self.attempts.take(held)
            kind = kinds.get(work.job)
            if kind is None:
                log.warning("%s waits in a queue of ours, but has no handler here", work.job)
                self._hand_back(held, "no handler here", LATER)
            elif self.worker.stopping:
                self._hand_back(held, "its worker was stopped")
            elif kind.may_run:
                self._start(kind, held)
            else:
                self.waiting += 1
                kind.waiting.append(held)

    def _start(self, kind: Kind, held: Held) -> None:
        kind.running += 1
        self.running += 1
        self.quiet.clear()
        self.runners.add(kind, held)

    async def _perform(self, kind: Kind, held: Held) -> None:
        """Run the handler and report its outcome. A lost attempt is not reported."""
        ctx, current = held.ctx, None
        try:
            if held.lost:
                return
            if LogHandler.in_use:
                current = CURRENT.set(ctx)
            with handler_span(ctx.type, ctx.attempt, ctx.traceparent):
                said = await (self.threads.run(kind.handler, ctx) if kind.blocks else kind.handler(ctx))
        except asyncio.CancelledError as error:
            if not held.lost:  # the handler cancelled itself
                self._report(held, *result_item(held.work, ctx, error))
        except BaseException as error:  # any error must be reported, or the claim would be kept for ever
            if not isinstance(error, Outcome):
                log.exception("%s %s failed", held.work.job, held.work.key or held.work.instance_id)
            self._report(held, *result_item(held.work, ctx, error))
            if not isinstance(error, Exception):
                raise
        else:
            if isinstance(said, Outcome):
                self._report(held, *result_item(held.work, ctx, said))
            else:
                self._report(held, True, success_item(held.work, ctx))
        finally:
            if current is not None:
                CURRENT.reset(current)
            self._ended(kind, held)

    def _ended(self, kind: Kind, held: Held) -> None:
        kind.running -= 1
        self.running -= 1
        if held.lost:
            self.attempts.let_go(held)
        while kind.waiting and kind.may_run and not self.worker.stopping:
            self.waiting -= 1
            following = kind.waiting.popleft()
            if following.lost:
                self.attempts.let_go(following)
            else:
                self._start(kind, following)
        if not self.running:
            self.quiet.set()
        self.room.set()

    def _report(self, held: Held, finish: bool, item: dict[str, Any]) -> None:
        if held.lost:
            return
        if not held.ctx.has_lines:
            self.reports.add(report_of(held, finish, item))
            return
        task = asyncio.create_task(self._report_after_lines(held, finish, item))
        self.ending.add(task)
        task.add_done_callback(self.ending.discard)

    async def _report_after_lines(self, held: Held, finish: bool, item: dict[str, Any]) -> None:
        """Send the last lines of an attempt first: after its report the server takes none."""
        await self.logs.end(held.work)
        if not held.lost:
            self.reports.add(report_of(held, finish, item))
        else:
            self.attempts.let_go(held)

    def _heard(self, answered: Sequence[Heard]) -> None:
        counts = self.worker.counts
        for report, verdict in answered:
            counts["returned" if report.back and verdict == "done" else verdict] += 1
            self.attempts.let_go(report.held)
            if verdict == "late" and not report.back:
                log.warning("%s was no longer ours when it was reported", report.held.work.instance_id)
        self.room.set()

    def _hand_back(self, held: Held, reason: str, after: float = 0.0) -> None:
        self.reports.add(report_of(held, False, return_item(held.work, reason, after), is_back=True))

    def _return_waiting(self) -> None:
        for kind, held in self.runners.withdraw():
            if not held.lost:
                self._hand_back(held, "its worker was stopped")
            self._ended(kind, held)
        for kind in self.worker.kinds.values():
            while kind.waiting:
                self.waiting -= 1
                self._hand_back(kind.waiting.popleft(), "its worker was stopped")
