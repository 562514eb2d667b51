"""A job whose definition a later release wrote stops no list and no bulk verb of its tenant."""

import msgspec

from horae.domain.instances.outcomes import ErrorCode, Unrecoverable
from horae.domain.schedules.triggers import ManualTrigger
from horae.service.instances import dead_letters, instances, searches
from tests.steps import a_job, claim_everywhere, query, settle


async def test_dead_letters_of_a_job_that_cannot_be_read_are_listed_and_stop_no_other(ctx, store):
    for name in ("later", "well"):
        job = await a_job(ctx, name, ManualTrigger())
        await instances.trigger(ctx, name, "k", even_if_down=True)
        if name == "later":
            future = msgspec.to_builtins(job.definition) | {"trigger": {"kind": "future"}}
            write, cell = "update job set definition = $2 where id = $1", store.cell(job.shard)
            later = job
    for ran in await claim_everywhere(store):
        await settle(store, ran, Unrecoverable(ErrorCode.HTTP_4XX, "no"))
    await query(cell, write, later.id, future)
    letters = await dead_letters.listing(ctx)
    assert sorted(letter.job for letter in letters) == ["later", "well"]
    for letter in letters:
        assert (await searches.find(ctx, letter.instance_id)).job == letter.job
    assert await dead_letters.replay_by(ctx, error_code=letters[0].error_code) == (1, 1)
