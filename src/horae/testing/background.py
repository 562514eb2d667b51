"""An event loop in a thread of its own, for tests without `async`."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, Self, TypeVar

Result = TypeVar("Result")


class Background:
    """Runs coroutines one by one in its loop, and returns their results to the calling thread."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()  # uvloop's close was seen to wait for ever at the end of a test
        self._thread = threading.Thread(target=self.loop.run_forever, name="horae.testing", daemon=True)

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine in the loop and wait for its result."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()
