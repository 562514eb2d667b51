"""The command line lists, pauses and removes a job that only a newer release can read."""

import asyncio

import asyncpg

FUTURE = "update job set definition = jsonb_set(definition, '{trigger}', '{\"kind\": \"future\"}') where name = 'new'"


async def written_by_a_newer_release(cells):
    for cell in cells:
        connection = await asyncpg.connect(cell.dsn)
        await connection.execute(FUTURE)
        await connection.close()


def test_a_job_of_a_newer_release_is_listed_paused_and_removed(horae, cells):
    horae("migrate")
    for name in ("new", "old"):
        horae("job", "create", name, "--cron", "0 0 9 * * ?")
    asyncio.run(written_by_a_newer_release(cells))
    assert "unreadable" in horae("job", "list")
    told = {one["name"]: one["unreadable"] for one in horae.json("job", "list")}
    assert told == {"new": "SCH_503_RELEASE", "old": None}
    assert "a newer release wrote it" in horae("job", "pause", "new")
    assert "SCH_503_RELEASE" in horae("job", "resume", "new", status=5)
    assert "REMOVED" in horae("job", "remove", "new")
