"""The API log: every call of a verb as its caller saw it, one line of JSON each."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import asyncpg
import msgspec

from horae.domain.errors import HoraeError
from horae.store.tx import GONE

Result = TypeVar("Result")
PATIENCE = 15.0


class ApiLog:
    """`ok`: true it was done, false it was refused and nothing was, null nobody knows."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", buffering=1)

    def close(self) -> None:
        self._file.close()

    async def call(
        self,
        op: str,
        work: Callable[[], Awaitable[Result]],
        told: Callable[[Result], Any] = msgspec.to_builtins,
        **facts: Any,
    ) -> Result | None:
        """Make a call, write down what came of it, and return the answer where there was one."""
        began = time.time()
        answer, ok, error = None, None, None
        try:
            async with asyncio.timeout(PATIENCE):
                answer = await work()
            ok = True
        except HoraeError as refusal:
            ok, error = False, f"{refusal.code} {refusal}"
        except (OSError, *GONE) as lost:
            error = repr(lost)
        except asyncpg.PostgresError as said:  # the server rolled it back and told us so
            ok, error = False, repr(said)
        finally:
            line = {"op": op, "job": None, "key": None, "at": None, "intent": None, "payload": None, **facts}
            line |= {"began": began, "ended": time.time(), "ok": ok, "error": error}
            line["answer"] = None if answer is None else told(answer)
            if op != "claim" or answer or not ok:  # a look at an empty queue tells nothing
                self._file.write(json.dumps(line, default=str) + "\n")
        return answer
