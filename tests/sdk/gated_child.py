"""A worker whose handlers wait for a file: `python -m tests.sdk.gated_child URL KEY NAME FOLDER`.

It writes a line for each task that begins and ends, and one whenever its poll says that it is drained or resumed.
"""

import asyncio
import logging
import sys
from pathlib import Path

from horae_client import Worker


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


class Lines(logging.Handler):
    """Log lines of the worker on standard output."""

    def emit(self, record: logging.LogRecord) -> None:
        say(record.getMessage())


def main() -> None:
    url, key, name, folder = sys.argv[1:]
    logging.getLogger("horae_client.worker").addHandler(Lines())
    worker = Worker(url, key, name=name, wait=0.3)

    @worker.task("T")
    async def handle(ctx):
        say(f"began {ctx.key}")
        while not (Path(folder) / ctx.key).exists():
            await asyncio.sleep(0.02)
        say(f"ended {ctx.key}")

    say("ready")
    worker.run()


if __name__ == "__main__":
    main()
