"""Calls of one provider of key-encryption keys that are under way.

1. Callers that need the same key share one call. A caller that stops waiting does not end the call: its result is kept
   for the next caller.
2. A bounded number of calls run at once, in all and per tenant. The others wait in order, up to a bound.
3. A provider that accepts calls and answers none is *silent*. Prompt callers, such as fires, wait for it once; until
   it answers again they do not wait at all, while the calls go on.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Hashable
from functools import partial
from typing import Final, TypeVar
from uuid import UUID

from horae.domain.errors import KeysUnavailable, Unopenable
from horae.runtime.sharing import SharedPlaces

Result = TypeVar("Result")
CALLS_AT_ONCE: Final = 16
CALLS_OF_TENANT: Final = 4
MAX_CALLS: Final = 1_000
"""Calls that run or wait for a place. Further ones are refused, so that an outage fills no memory."""
PATIENCE_S: Final = 10.0
"""Seconds that a person's request waits: a call and some time for a place."""
PROMPT_PATIENCE_S: Final = 0.5
"""Seconds that a prompt caller waits: fires of other tenants wait meanwhile."""


class KeyCalls:
    """The calls of one provider."""

    def __init__(self) -> None:
        self._places = SharedPlaces(CALLS_AT_ONCE, CALLS_OF_TENANT)
        self._under_way: dict[Hashable, asyncio.Task[object]] = {}
        self._is_silent = False

    def __len__(self) -> int:
        """How many calls run or wait for a place."""
        return len(self._under_way)

    def start(self, tenant_id: UUID, what: Hashable, call: Callable[[], Awaitable[Result]]) -> "asyncio.Task[Result]":
        """Start a call for a tenant, or return the one that is under way for the same thing."""
        task = self._under_way.get(what)
        if task is None:
            if len(self._under_way) >= MAX_CALLS:
                raise KeysUnavailable("too many data keys wait for the key engine")
            task = asyncio.create_task(self._run(tenant_id, call))
            self._under_way[what] = task
            task.add_done_callback(partial(self._end, what))
        return task  # type: ignore[return-value]

    async def wait(self, calls: "Collection[asyncio.Task[object]]", *, prompt: bool) -> None:
        """Wait until all calls have ended, for a bounded time. The caller asks each whether it is done."""
        if not calls:
            return
        patience_s = PATIENCE_S
        if prompt:
            patience_s = 0.0 if self._is_silent else PROMPT_PATIENCE_S
        _, unanswered = await asyncio.wait(calls, timeout=patience_s)
        if prompt and unanswered:
            self._is_silent = True

    async def _run(self, tenant_id: UUID, call: Callable[[], Awaitable[Result]]) -> Result:
        async with self._places.of(tenant_id):
            return await call()

    def _end(self, what: Hashable, task: "asyncio.Task[object]") -> None:
        """Forget a call that has ended. An answer, whatever it says, ends the silence."""
        del self._under_way[what]
        if not task.cancelled() and (task.exception() is None or isinstance(task.exception(), Unopenable)):
            self._is_silent = False
