"""A loop in a thread of its own, so that a test without `async` may ask and wait."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, Self, TypeVar

import uvloop

Result = TypeVar("Result")


class Background:
    """Runs coroutines one by one in its loop, and gives their results back here."""

    def __init__(self) -> None:
        self.loop = uvloop.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="horae.testing", daemon=True)

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Do it there, and wait for it here."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()
