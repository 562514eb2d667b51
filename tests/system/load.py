"""The load as a process: `python -m tests.system.load SETTINGS.json`; makes its jobs, then asks until told to end.

Told over its socket: `quiet` (nobody asks any more, and every call has its answer in the log; workers go on), `go_on`,
`ping`.
"""

import asyncio
import json
import os
import random
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import uvloop

from horae.boot.encryption import open_store
from horae.boot.signals import stop_signal
from horae.runtime.settings import CellSettings, Settings
from horae.service.context import Context
from horae.service.tenants import tenants
from tests.system.apilog import ApiLog
from tests.system.authors import Authors, Worker, create_job
from tests.system.door import open_door
from tests.system.portfolio import TASKS_SHARE, portfolio

AUTHORS, WORKERS = 4, 3


class Inside:
    def __init__(self, authors: Authors) -> None:
        self.authors = authors
        self.ready = False

    async def ping(self) -> dict[str, Any]:
        return {"ready": self.ready}

    async def quiet(self) -> dict[str, Any]:
        """Returns when the last author has his answer."""
        self.authors.asking = False
        while self.authors.writing:
            await asyncio.sleep(0.01)
        return {}

    async def go_on(self) -> dict[str, Any]:
        self.authors.asking = True
        return {}


async def main(settings: dict[str, Any]) -> None:
    cells = [CellSettings(name=name, dsn=dsn) for name, dsn in settings["cells"]]
    async with open_store(Settings(), cells) as store:
        ctx = Context.of(store, await tenants.find(store, settings["tenant"]), "author")
        log = ApiLog(Path(settings["log"]))
        authors = Authors(ctx, log, random.Random(settings["seed"]), settings["rate"] * TASKS_SHARE / AUTHORS)
        inside, told = Inside(authors), stop_signal()
        async with open_door(inside, os.environ["HORAE_CONTROL"]):
            anchor = datetime.now(UTC).replace(microsecond=0)
            made = list(portfolio(settings["url"], settings["rate"], anchor))
            for name, definition in made:
                await create_job(ctx, log, name, definition)
            inside.ready = True
            pausing = [name for name, _ in made if name.startswith("pausing-")]
            going = [authors.write() for _ in range(AUTHORS)]
            going += [authors.delay(settings["url"]), authors.pause(pausing)]
            going += [Worker(authors, f"worker-{n}").work() for n in range(WORKERS)]
            tasks = [asyncio.create_task(one) for one in going]
            ended = asyncio.create_task(told.wait())
            await asyncio.wait([ended, *tasks], return_when=asyncio.FIRST_COMPLETED)
            authors.running = False
            await asyncio.gather(*tasks)


if __name__ == "__main__":
    uvloop.run(main(json.loads(Path(sys.argv[1]).read_text())))
