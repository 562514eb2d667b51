"""A worker that runs drills when Horae itself asks for them: a job with the name of a drill, in the queue `drills`.

What a drill does is written in a file of the host that it runs on, never in the job: who may change the job can say
when, and nothing else.
"""

import subprocess
import sys
import tomllib
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec

from horae.domain.drills.drills import DrillKind
from horae.domain.errors import Invalid
from horae_client import Context, Unrecoverable, Worker

QUEUE: Final = "drills"
TAIL_CHARACTERS: Final = 500


class ScheduledDrill(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The words of `horae drill KIND`, without the reason."""

    words: list[str]


def read_drills(file: Path) -> dict[DrillKind, ScheduledDrill]:
    """The drills that this host runs, by kind, from a TOML file."""
    try:
        found: dict[str, Any] = tomllib.loads(file.read_text())
        return msgspec.convert(found, dict[DrillKind, ScheduledDrill])
    except OSError as error:
        raise Invalid(f"{file} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.MsgspecError) as error:
        raise Invalid(f"{file} has no drills: {error}") from error


def worker_of(drills: dict[DrillKind, ScheduledDrill], url: str | None, key: str | None, queue: str = QUEUE) -> Worker:
    """A worker that runs one drill after the other."""
    worker = Worker(url, key, concurrency=1)
    for kind, drill in drills.items():
        worker.task(kind.value, queue=queue, max_concurrency=1)(partial(run_scheduled, kind, drill))
    return worker


def run_scheduled(kind: DrillKind, drill: ScheduledDrill, ctx: Context) -> None:
    """Run a drill as a process of its own. One that did not pass becomes a dead letter: nothing repeats it."""
    reason = f"scheduled for {ctx.fire_time:%Y-%m-%d %H:%M} UTC"
    command = [sys.executable, "-m", "horae", "drill", kind.value, *drill.words, "--reason", reason]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unrecoverable(" ".join((done.stdout + done.stderr).split())[-TAIL_CHARACTERS:])
