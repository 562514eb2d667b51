"""The newest ended runs of jobs, for lists that show how each job does."""

from collections import defaultdict
from collections.abc import Collection
from itertools import chain
from typing import Final
from uuid import UUID

from horae.domain.instances.recent_runs import RecentRun
from horae.service.context import Context
from horae.store.instances import history

MOST_RECENT: Final = 10
"""Runs of one job that a list shows at most."""


async def of_jobs(ctx: Context, ids: Collection[UUID], limit: int) -> dict[UUID, list[RecentRun]]:
    """Returns the newest ended runs of each of these jobs, newest first. Jobs of a spread type ran in several cells."""
    if not ids or limit < 1:
        return {}
    found = await ctx.ask_each(lambda tx: history.recent(tx, ctx.tenant.id, list(ids), limit))
    runs: dict[UUID, list[RecentRun]] = defaultdict(list)
    for run in sorted(chain.from_iterable(found), key=lambda one: one.fire_time, reverse=True):
        if len(runs[run.job_id]) < limit:
            runs[run.job_id].append(run)
    return runs
