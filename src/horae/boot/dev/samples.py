"""Jobs to look at: one that recurs, a type whose keys have their own times, one that fails twice and then succeeds.

They live as long as the process that serves what they call, and are known by their label: a job of yours that has the
same name is left alone.
"""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Final

from horae.boot.dev.receiver import FLAKY
from horae.domain.errors import NameTaken
from horae.domain.jobs import Definition, Job
from horae.domain.targets import HttpTarget
from horae.domain.triggers import IntervalTrigger, KeyedTrigger, Trigger, cron
from horae.service import jobs, tasks
from horae.service.context import Context
from horae.service.tasks import Answer

LABELS: Final = {"made-by": "horae dev"}
EVERY_FIVE, PUBLISH, FAILING = "every-five", "publish", "flaky"
FAILING_EVERY, FIRST_FAILURE = 30.0, timedelta(seconds=2)
ARTICLES: Final = {"article-1": 4.0, "article-2": 7.0, "article-3": 9.0}
POSTPONED: Final = ("article-3", 12.0)

Told = Callable[[str, str, Answer], None]
"""Hears what was decided about the key of a type."""


async def make(ctx: Context, url: str, told: Told) -> None:
    """All samples, anew: those of an earlier process call a port where nobody listens any more."""
    await clear(ctx)
    now = ctx.store.cells[0].clock.now()
    samples: list[tuple[str, Trigger, str, Callable[[], Awaitable[None]] | None]] = [
        (EVERY_FIVE, cron("*/5 * * * * *"), "/every-five", None),
        (FAILING, IntervalTrigger(FAILING_EVERY, now + FIRST_FAILURE), FLAKY, None),
        (PUBLISH, KeyedTrigger(), "/publish", lambda: _publish(ctx, now, told)),
    ]
    for name, trigger, path, then in samples:
        try:
            await jobs.create(ctx, name, Definition(trigger=trigger, target=HttpTarget(url + path), labels=LABELS))
        except NameTaken:
            continue
        if then is not None:
            await then()


async def clear(ctx: Context) -> None:
    """Remove every sample of this tenant."""
    for job in await jobs.listing(ctx):
        if _is_sample(job):
            await jobs.remove(ctx, job.name)


async def _publish(ctx: Context, now: datetime, told: Told) -> None:
    """A few articles; of one the author thinks again."""
    for key, seconds in (*ARTICLES.items(), POSTPONED):
        at = now + timedelta(seconds=seconds)
        told(PUBLISH, key, await tasks.schedule(ctx, PUBLISH, key, at=at))


def _is_sample(job: Job) -> bool:
    return job.definition.labels == LABELS
