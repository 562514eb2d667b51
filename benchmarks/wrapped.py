"""`python -m benchmarks.wrapped MODULE [WORDS]`: a program as it is, with what a measurement needs inside its process.

`HORAE_BENCH_PATCH` names a module that is imported first: a test plants a slowdown with it. `HORAE_BENCH_STEPS` names a
file: the executed lines of the engine are counted, and the file tells the counts of each of its files.
`HORAE_BENCH_CALLBACKS` names a file: it tells the longest callback of the event loop, in CPU time of its thread.
"""

import asyncio
import importlib
import json
import os
import runpy
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Coroutine
from pathlib import Path
from types import FrameType
from typing import Any

import uvloop

PATCH, STEPS, CALLBACKS = "HORAE_BENCH_PATCH", "HORAE_BENCH_STEPS", "HORAE_BENCH_CALLBACKS"
HEARTBEAT_S, SAMPLED_EVERY_S = 0.002, 0.005
TOLD_EVERY_S = 0.2
Tracer = Callable[[FrameType, str, Any], Any]


class LineCounter:
    """Counts the executed lines of some files, in the thread that asks for it.

    A loop inside of C (`sorted`, `list.extend`) is one line however long it is: rates have to show those.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lines: Counter[str] = Counter()
        self._tracers: dict[str, Tracer | None] = {}

    def start(self) -> None:
        """From now on."""
        sys.settrace(self._called)

    def _called(self, frame: FrameType, _event: str, _fact: object) -> Tracer | None:
        name = frame.f_code.co_filename
        if name not in self._tracers:
            self._tracers[name] = self._tracer_of(name)
        return self._tracers[name]

    def _tracer_of(self, name: str) -> Tracer | None:
        if not Path(name).is_relative_to(self.folder):
            return None
        lines, short = self.lines, str(Path(name).relative_to(self.folder))

        def count(_frame: FrameType, event: str, _fact: object) -> Tracer:
            if event == "line":
                lines[short] += 1
            return count

        return count


class CallbackWatch:
    """The longest callback of the main thread's loop, in CPU time of that thread.

    uvloop runs callbacks in C, where nothing can be put around them. So:
    1. A heartbeat on the loop counts its turns.
    2. A thread samples the turn, the outermost frame that the loop called, and the CPU clock of the main thread.
    3. As long as turn and frame stay the same, one callback runs; the clock tells what it has burnt so far.
    A callback shorter than the time between two samples is not seen: nobody asks for those.
    `turns` is the most CPU between two heartbeats, all callbacks of a turn together: never less than the longest.
    Both are kept in milliseconds for every second of the wall clock.
    """

    def __init__(self) -> None:
        self.callbacks: dict[int, float] = {}
        self.turns: dict[int, float] = {}
        self.turn = 0
        self._beaten_at = 0.0

    def start(self) -> None:
        """On the running loop, from its own thread."""
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()
        self._clock = time.pthread_getcpuclockid(self._thread)
        self._beaten_at = time.clock_gettime(self._clock)
        self._beat()
        threading.Thread(target=self._sample, daemon=True).start()

    def facts(self) -> dict[str, dict[int, float]]:
        """What was seen so far."""
        return {"callbacks": dict(self.callbacks), "turns": dict(self.turns)}

    def _beat(self) -> None:
        now = time.clock_gettime(self._clock)
        _keep_longest(self.turns, now - self._beaten_at)
        self._beaten_at = now
        self.turn += 1
        self._loop.call_later(HEARTBEAT_S, self._beat)

    def _sample(self) -> None:
        turn, running, began = 0, None, 0.0
        while True:
            time.sleep(SAMPLED_EVERY_S)
            called, now = self._called(), time.clock_gettime(self._clock)
            if called is not running or turn != self.turn:
                turn, running, began = self.turn, called, now  # kept: another frame must not be given its place
            else:
                _keep_longest(self.callbacks, now - began)

    def _called(self) -> FrameType | None:
        """The frame that the loop called."""
        frame, callback = sys._current_frames().get(self._thread), None
        while frame is not None and not frame.f_code.co_filename.endswith("asyncio/runners.py"):
            frame, callback = frame.f_back, frame
        return callback


def _keep_longest(longest: dict[int, float], seconds: float) -> None:
    here = int(time.time())
    longest[here] = max(longest.get(here, 0.0), round(seconds * 1000, 1))


def longest_since(path: Path, moment: float) -> tuple[float, float]:
    """The longest callback and the longest turn since a moment, in milliseconds of CPU."""
    told = json.loads(path.read_text()) if path.exists() else {"callbacks": {}, "turns": {}}
    callback, turn = (
        max((ms for second, ms in told[kind].items() if int(second) >= int(moment)), default=0.0)
        for kind in ("callbacks", "turns")
    )
    return callback, turn


def watch_callbacks(path: Path) -> None:
    """Whatever `uvloop.run` runs is watched."""
    run, watch = uvloop.run, CallbackWatch()

    async def watched(main: Coroutine[Any, Any, Any]) -> Any:
        watch.start()
        return await main

    uvloop.run = lambda main, **options: run(watched(main), **options)
    keep_telling(path, watch.facts)


def keep_telling(path: Path, facts: Callable[[], Any]) -> None:
    """Write the facts again and again, from a thread: a busy loop does not keep them back."""

    def tell() -> None:
        while True:
            part = path.with_suffix(".part")
            part.write_text(json.dumps(facts()))
            part.replace(path)
            time.sleep(TOLD_EVERY_S)

    threading.Thread(target=tell, daemon=True).start()


def steps_in(path: Path) -> Counter[str]:
    """What a process has told of its lines so far; nothing where it has not begun."""
    return Counter(json.loads(path.read_text())) if path.exists() else Counter()


def main() -> None:
    """Measure what the environment asks for, and run the program."""
    if PATCH in os.environ:
        importlib.import_module(os.environ[PATCH])
    if STEPS in os.environ:
        counter = LineCounter(Path(importlib.import_module("horae.engine").__path__[0]))
        keep_telling(Path(os.environ[STEPS]), lambda: dict(counter.lines))
        counter.start()
    if CALLBACKS in os.environ:
        watch_callbacks(Path(os.environ[CALLBACKS]))
    sys.argv = sys.argv[1:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
