"""Sample jobs: a recurring one, a type with several business keys, and one that fails twice and then succeeds.

They exist as long as the process that serves their target. A label marks them: a user's job with the same name is not
touched.
"""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Final

from horae.boot.dev.receiver import FLAKY
from horae.domain.errors import NameTaken
from horae.domain.jobs.jobs import Definition, Job
from horae.domain.schedules.triggers import IntervalTrigger, KeyedTrigger, Trigger, cron
from horae.domain.targets.targets import HttpTarget
from horae.service.context import Context
from horae.service.jobs import jobs
from horae.service.tasks import tasks
from horae.service.tasks.tasks import ScheduleAnswer

LABELS: Final = {"made-by": "horae dev"}
EVERY_FIVE: Final = "every-five"
PUBLISH: Final = "publish"
FAILING: Final = "flaky"
FAILING_INTERVAL_S: Final = 30.0
FIRST_FAILURE_DELAY: Final = timedelta(seconds=2)
ARTICLE_DELAYS_S: Final = {"article-1": 4.0, "article-2": 7.0, "article-3": 9.0}
POSTPONED_ARTICLE: Final = ("article-3", 12.0)
"""The key of the article that is scheduled a second time, and its new delay in seconds."""

OnDecision = Callable[[str, str, ScheduleAnswer], None]
"""Called with each decision about a business key."""


async def make(ctx: Context, url: str, on_decision: OnDecision) -> None:
    """Create all samples again, because those of an earlier process call a port that is closed now."""
    await clear(ctx)
    now = ctx.store.cells[0].clock.now()
    samples: list[tuple[str, Trigger, str, Callable[[], Awaitable[None]] | None]] = [
        (EVERY_FIVE, cron("*/5 * * * * *"), "/every-five", None),
        (FAILING, IntervalTrigger(FAILING_INTERVAL_S, now + FIRST_FAILURE_DELAY), FLAKY, None),
        (PUBLISH, KeyedTrigger(), "/publish", lambda: _publish(ctx, now, on_decision)),
    ]
    for name, trigger, path, then in samples:
        try:
            await jobs.create(ctx, name, Definition(trigger=trigger, target=HttpTarget(url + path), labels=LABELS))
        except NameTaken:
            continue
        if then is not None:
            await then()


async def clear(ctx: Context) -> None:
    """Remove all samples of this tenant."""
    for job in await jobs.listing(ctx):
        if _is_sample(job):
            await jobs.remove(ctx, job.name)


async def _publish(ctx: Context, now: datetime, on_decision: OnDecision) -> None:
    """Schedule a few articles, and move one of them."""
    for key, seconds in (*ARTICLE_DELAYS_S.items(), POSTPONED_ARTICLE):
        at = now + timedelta(seconds=seconds)
        on_decision(PUBLISH, key, await tasks.schedule(ctx, PUBLISH, key, at=at))


def _is_sample(job: Job) -> bool:
    return job.definition.labels == LABELS
