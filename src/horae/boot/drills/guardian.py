"""The guardian of a drill: a process of its own that takes the way back, however the drill ends.

1. The drill starts it before anything breaks, and holds the other end of its standard input.
2. The drill sends each step of the way back before it does what that step undoes; the guardian confirms it.
3. The guardian takes all steps, the last one first, when the drill asks for it, when its input ends because the drill
   is gone, or when the time limit has passed. Then it ends.

Every step is also written to a file, so that a person can read what was done. It ignores the signals of a terminal.
"""

import os
import select
import signal
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from horae.boot.drills.way_back import WayBack
from horae.runtime.files import append

IGNORED: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE)
READ_BYTES: Final = 65_536
INPUT: Final = 0
OUTPUT: Final = 1


class GuardianOrder(msgspec.Struct, frozen=True):
    """One line from the drill: a step of the way back, or without one the request to take the way back now."""

    step: WayBack | None = None


class GuardianReply(msgspec.Struct, frozen=True):
    """One line to the drill: a step was noted, or what was done on the way back and why it was taken."""

    why: str = ""
    done: tuple[str, ...] = ()


class Guardian:
    """Keeps the steps of the way back."""

    def __init__(self, limit_s: float, log: Path) -> None:
        self._deadline = time.monotonic() + limit_s
        self._log = log
        self._steps: list[WayBack] = []
        self._rest = b""

    def watch(self) -> None:
        """Note steps until one of the three reasons is there, then take the way back."""
        why = self._wait()
        done = tuple(self._take(step) for step in reversed(self._steps))
        self._write({"why": why, "done": done})
        self._reply(GuardianReply(why, done))

    def _wait(self) -> str:
        while (left := self._deadline - time.monotonic()) > 0:
            if not select.select([INPUT], [], [], left)[0]:
                break
            read = os.read(INPUT, READ_BYTES)
            if not read:
                return "the drill is gone"
            *lines, self._rest = (self._rest + read).split(b"\n")
            for line in lines:
                order = msgspec.json.decode(line, type=GuardianOrder)
                if order.step is None:
                    return "the drill asked for it"
                self._steps.append(order.step)
                self._write({"step": order.step})
                self._reply(GuardianReply())
        return "the time limit has passed"

    def _take(self, step: WayBack) -> str:
        try:
            return step.take()
        except Exception as error:  # whatever stops this step, the others must be taken
            return f"{type(step).__name__} failed: {error!r}"

    def _write(self, facts: dict[str, object]) -> None:
        with suppress(OSError):  # a full disk keeps nobody from the way back
            append(self._log, msgspec.json.encode({"at": datetime.now(UTC), **facts}) + b"\n")

    def _reply(self, reply: GuardianReply) -> None:
        with suppress(OSError):
            os.write(OUTPUT, msgspec.json.encode(reply) + b"\n")


def main() -> None:
    """`python -m horae.boot.drills.guardian LIMIT_S LOG`."""
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    Guardian(float(sys.argv[1]), Path(sys.argv[2])).watch()


if __name__ == "__main__":
    main()
