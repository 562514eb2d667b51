"""A business that is killed: `python -m tests.sdk.crashing DSN URL KEY FIRST MANY`.

Each run is a process of its own, forked from one that has imported everything. It writes a row, adds a task, commits
and relays it, and kills itself after as many steps as its number says; some roll back instead. Nothing cleans up.
"""

import os
import signal
import sys
from typing import Any

from horae_client import outbox
from horae_client.outbox.__main__ import connecting
from horae_client.outbox.relay import Relay

STEPS = 9
"""Row, task, commit, lock, read, forward, take away; and the end, with a commit or with a rollback."""


class Steps:
    """Counts steps, and ends everything at the last one."""

    def __init__(self, last: int) -> None:
        self.left = last

    def step(self) -> None:
        if not self.left:
            os.kill(os.getpid(), signal.SIGKILL)
        self.left -= 1


class Counted(Relay):
    """A relay that is killed between its steps."""

    steps: Steps

    def _hold(self) -> bool:
        self.steps.step()
        return super()._hold()

    def _read(self, last: int) -> Any:
        if not last:
            self.steps.step()
        return super()._read(last)

    def _forward(self, page: Any) -> Any:
        self.steps.step()
        heard = super()._forward(page)
        self.steps.step()
        return heard

    def _forget(self, ids: Any) -> None:
        super()._forget(ids)
        self.steps.step()


def live(dsn: str, url: str, key: str, number: int) -> None:
    """One run."""
    steps = Steps(number % STEPS)
    connection = connecting(dsn)()
    steps.step()
    connection.cursor().execute(f"insert into article (id, title) values ({number}, 'x')")
    steps.step()
    outbox.add(connection, "PUBLISH", f"article-{number}", payload={"number": number})
    steps.step()
    if number % (2 * STEPS) == 2 * STEPS - 1:
        connection.rollback()
        return
    connection.commit()
    steps.step()
    relay = Counted(connecting(dsn), url, key)
    relay.steps = steps
    relay.once()


def main() -> None:
    dsn, url, key, first, many = sys.argv[1:]
    for number in range(int(first), int(first) + int(many)):
        child = os.fork()
        if not child:
            live(dsn, url, key, number)
            os._exit(0)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
