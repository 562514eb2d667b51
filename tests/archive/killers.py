"""Dies at a step of the archiver, by an error or by SIGKILL. As a program it runs one round and kills itself:

python -m tests.archive.killers DSN TARGET KIND NAME CALL before|after
"""

import asyncio
import os
import sys
from collections import Counter
from datetime import timedelta
from signal import SIGKILL

from horae.archive import sorting
from horae.archive.object_store import open_target
from horae.runtime.settings import CellSettings, Settings
from horae.store.databases import archived_days
from horae.store.store import Store
from horae.upkeep.archive import DayArchiver

FEW_ROWS = 20
"""Rows of a file, so that a day has several."""
OF_TARGET = ("put", "create", "get", "listing", "delete")
OF_STORE = ("listing", "pages", "copy_rows", "checksum", "is_locked", "record")
STEPS = [("target", name) for name in OF_TARGET] + [("store", name) for name in OF_STORE]


def fail():
    raise ConnectionResetError("killed")


def kill_myself():
    os.kill(os.getpid(), SIGKILL)


class Killer:
    """Counts the calls of one step, and dies at one of them: before it happens, or after."""

    def __init__(self, die=fail):
        self.calls = Counter()
        self.dies_at, self.is_after = None, False
        self._die = die

    def _die_at(self, name, *, after):
        if self.dies_at == (name, self.calls[name]) and self.is_after == after:
            self._die()

    def wrap(self, kind, name, call):
        key = (kind, name)

        def wrapped(*args):
            self.calls[key] += 1
            self._die_at(key, after=False)
            result = call(*args)
            self._die_at(key, after=True)
            return result

        async def wrapped_async(*args):
            self.calls[key] += 1
            self._die_at(key, after=False)
            result = await call(*args)
            self._die_at(key, after=True)
            return result

        return wrapped_async if asyncio.iscoroutinefunction(call) else wrapped


class WatchedTarget:
    """A target whose calls a killer watches."""

    def __init__(self, target, killer):
        self._target = target
        for name in OF_TARGET:
            setattr(self, name, killer.wrap("target", name, getattr(target, name)))
        self.get_range = target.get_range


async def main(dsn, url, kind, name, call, when):
    """One round on one cell. Ends by itself only if the step was not reached so often."""
    killer = Killer(kill_myself)
    killer.dies_at, killer.is_after = ((kind, name), int(call)), when == "after"
    target = WatchedTarget(open_target(Settings(archive=url, environment="test")), killer)
    sorting.FILE_ROWS = FEW_ROWS
    for step in OF_STORE:
        setattr(archived_days, step, killer.wrap("store", step, getattr(archived_days, step)))
    async with Store.of([CellSettings(name="cell-0", dsn=dsn)]) as store:
        await DayArchiver(store, target, timedelta(days=14), timedelta(days=90)).once()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
