"""Seeds in a process of their own.

The product's clock, dice and driver are replaced for a whole process. A thread that another test left running in it
would be given them too, and use the one connection beside the seed.
"""

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager

from tests.simulation.bugs import PLANTED
from tests.simulation.session import Result, Session

_sessions: list[Session] = []


@contextmanager
def run_apart(dsn: str) -> Iterator[Callable[..., Result]]:
    """A process with a session over a database; `run(seed, bug)` runs a seed there."""
    new = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=new, initializer=_open, initargs=(dsn,)) as process:

        def run(seed: int, bug: str | None = None) -> Result:
            return process.submit(_run, seed, bug).result()

        yield run
        process.submit(_close).result()


def _open(dsn: str) -> None:
    _sessions.append(Session(dsn))


def _run(seed: int, bug: str | None) -> Result:
    return _sessions[0].run(seed, PLANTED[bug]() if bug else None)


def _close() -> None:
    _sessions.pop().close()
