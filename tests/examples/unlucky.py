"""The article service with bad luck around it, of which its own code knows nothing.

`UNLUCKY_LOST`: the share of articles after whose commit the process "dies" before it has told Horae. `UNLUCKY_LATE`:
the share of calls that took effect and are answered only when Horae waits no longer.
"""

import asyncio
import os
import random

from starlette.responses import Response

from articles import schedule, web

LOST, LATE = float(os.environ["UNLUCKY_LOST"]), float(os.environ["UNLUCKY_LATE"])
LATE_PATHS = set(schedule.PATHS.values())


class Died(Exception):
    """As far as this article goes."""


def losing(announce):
    def maybe(client, wanted):
        if wanted.version == 1 and random.random() < LOST:
            raise Died(wanted.id)
        return announce(client, wanted)

    return maybe


class Late:
    """Keeps some good answers back for longer than anyone waits."""

    def __init__(self, app) -> None:
        self.app = app

    async def __call__(self, scope, receive, send) -> None:
        if scope["type"] != "http" or scope["path"] not in LATE_PATHS or random.random() >= LATE:
            await self.app(scope, receive, send)
            return
        said = []

        async def keep(message) -> None:
            said.append(message)

        await self.app(scope, receive, keep)
        if said[0]["status"] < 300:
            await asyncio.sleep(schedule.READ_TIMEOUT + 1)
        for message in said:
            await send(message)


async def died(request, error) -> Response:
    return Response(status_code=500)


schedule.announce = losing(schedule.announce)
web.app.add_exception_handler(Died, died)
app = Late(web.app)
