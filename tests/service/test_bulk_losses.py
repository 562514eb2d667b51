"""One job whose database is lost says nothing about the others of the same request."""

import asyncpg

from horae.domain.jobs.jobs import JobFilter
from horae.service.jobs import bulk, jobs
from tests.steps import a_job


async def test_what_became_of_each_job_is_told_also_where_a_database_was_lost(ctx, monkeypatch):
    for name in ("a", "b", "c"):
        await a_job(ctx, name, labels={"team": "x"})
    pause = jobs.pause

    async def pause_but_b(ctx, name):
        if name == "b":
            raise asyncpg.ConnectionDoesNotExistError("connection was closed in the middle of operation")
        return await pause(ctx, name)

    monkeypatch.setattr(jobs, "pause", pause_but_b)
    done = await bulk.run(ctx, bulk.BulkAction.PAUSE, JobFilter(labels={"team": "x"}))
    assert [(one.name, one.ok, one.code) for one in done.items] == [
        ("a", True, None),
        ("b", False, "SCH_503_UNAVAILABLE"),
        ("c", True, None),
    ]
