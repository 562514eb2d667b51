"""The event loop of a simulated node: one thread whose callbacks use processor time."""

import asyncio
from asyncio import events
from collections import deque
from contextvars import Context
from typing import Any
from weakref import WeakSet

from benchmarks.simulation.kernel import Alarm, Kernel
from benchmarks.simulation.processors import Processor


class NodeLoop(asyncio.AbstractEventLoop):
    """Runs callbacks one after the other. `use` lets the present callback use processor time: the next one waits.

    The product's code finds this loop as the running one: its timers, tasks and futures work unchanged. An error that
    a callback raises ends the simulation.
    """

    def __init__(self, kernel: Kernel, processor: Processor) -> None:
        self.kernel = kernel
        self.processor = processor
        self.stopped = False
        self._ready: deque[Alarm] = deque()
        self._tasks: WeakSet[asyncio.Task[Any]] = WeakSet()
        self._used_s = 0.0
        self._is_busy = False

    def use(self, seconds: float) -> None:
        """The present callback uses so much processor time."""
        self._used_s += seconds

    def stop(self) -> None:
        """Run nothing any more: the process is gone, and so are its unfinished tasks."""
        self.stopped = True
        for task in [one for one in self._tasks if not one.done()]:
            task.get_coro().close()  # type: ignore[union-attr]
        self._ready.clear()

    def time(self) -> float:
        """Simulated time."""
        return self.kernel.now

    def get_debug(self) -> bool:
        """Asked by every future."""
        return False

    def create_future(self) -> "asyncio.Future[Any]":
        """A future of this loop."""
        return asyncio.Future(loop=self)

    def create_task(self, coro: Any, *, name: str | None = None, context: Context | None = None) -> "asyncio.Task[Any]":
        """A task of this loop."""
        task = asyncio.Task(coro, loop=self, name=name, context=context)
        self._tasks.add(task)
        return task

    def call_soon(self, callback: Any, *args: Any, context: Context | None = None) -> Any:
        """Run a callback when the thread is free. No code here has context variables."""
        del context
        alarm = Alarm(callback, args)
        self._ready.append(alarm)
        if not self._is_busy:
            self._is_busy = True
            self.kernel.at(self.kernel.now, self._run)
        return alarm

    def call_later(self, delay: float, callback: Any, *args: Any, context: Context | None = None) -> Any:
        """Run a callback after a time, when the thread is free."""
        del context
        alarm = Alarm(callback, args)
        self.kernel.after(delay, self._add_due, alarm)
        return alarm

    def call_at(self, when: float, callback: Any, *args: Any, context: Context | None = None) -> Any:
        """Run a callback at a time, when the thread is free."""
        return self.call_later(when - self.kernel.now, callback, *args, context=context)

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """An error ends the simulation. What a process leaves behind that is gone is none."""
        if "exception" in context and not self.stopped:
            raise RuntimeError(context.get("message", "an error in a callback")) from context["exception"]

    def _add_due(self, alarm: Alarm) -> None:
        if alarm.call is None or self.stopped:
            return
        self._ready.append(alarm)
        if not self._is_busy:
            self._is_busy = True
            self._run()

    def _run(self) -> None:
        """Run callbacks until one uses processor time; go on when that time is over."""
        ready = self._ready
        events._set_running_loop(self)
        try:
            while ready and not self._used_s:
                alarm = ready.popleft()
                if alarm.call is not None:
                    alarm.call(*alarm.args)
        finally:
            events._set_running_loop(None)
        used_s, self._used_s = self._used_s, 0.0
        if used_s and not self.stopped:
            self.processor.run(used_s, self._run)
        else:
            self._is_busy = False
