"""What the shop asks of Horae: one rolling job, whose subjects are the products.

Each product is refreshed once in a window. Ticks take the oldest and spread their calls, and all nodes together never
call faster than the inventory system bears.
"""

from contextlib import suppress
from typing import NamedTuple

from horae_client import AsyncClient, Http, RetryPolicy, Rolling, errors

JOB = "STOCK"
PATH = "/hooks/refresh"
SECRET_NAME = "stock"
TRIES = 3
"""Of one refresh. A product that failed for good waits for its next window, which is ten days long."""
ROOM = 0.6
"""Of what the inventory system bears: the busiest second of a target's rate brings a quarter more than the rate, and a
shop that was busy passes on several calls at once.
"""

AT_ONCE = 40
"""Refreshes under way at the same time, whatever the rate: a shop that is slow for a while is not buried under calls
that nobody waits for any more.
"""


class Rhythm(NamedTuple):
    """In seconds: how old a quantity may be, how often to look for old ones. And how many calls in a second the
    inventory system bears.
    """

    window: float = 10 * 86400.0
    every: float = 86400.0
    rate: float = 20.0


async def declare(client: AsyncClient, our_url: str, secret: str, rhythm: Rhythm) -> None:
    """Make sure that the job exists. Asked at every start."""
    await client.secrets.put(SECRET_NAME, secret)
    trigger = Rolling(window=rhythm.window, every=rhythm.every)
    target = Http(our_url + PATH, signing=SECRET_NAME, rate=rhythm.rate * ROOM, max_concurrency=AT_ONCE)
    with suppress(errors.NameTaken):
        await client.jobs.create(JOB, trigger=trigger, target=target, retry=RetryPolicy(max_failures=TRIES))
