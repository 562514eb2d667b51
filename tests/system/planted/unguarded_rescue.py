"""The rescuer writes what it read a moment ago, whatever has become of it since."""

import asyncio
from typing import Any

from horae.domain.instances.instances import Instance
from horae.repositories import settle  # noqa: F401 - its statements must be there to be rewritten
from horae.store.instances import instances
from tests.system.planted.text import rewrite

GUARD = """and l.state not in ('INIT', 'FAIL', 'BLOCKED')
      and l.attempt = g.attempt and l.token = g.token
      and (g.seen_deadline is null or l.deadline = g.seen_deadline)"""
BLIND = """and (g.seen_deadline is not null
           or l.state not in ('INIT', 'FAIL', 'BLOCKED') and l.attempt = g.attempt and l.token = g.token)"""
MOMENT = 4.0


def plant(put: Any) -> None:
    rewrite(put, {"instances/instances/retry_later": (GUARD, BLIND)})
    right = instances.abandoned

    async def abandoned(*args: Any) -> list[Instance]:
        found = await right(*args)
        if found:
            await asyncio.sleep(MOMENT)  # a slow page of a busy reaper
        return found

    put(instances, "abandoned", abandoned)
