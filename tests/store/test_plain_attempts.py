"""The attempt of a plain success is not stored, and is read all the same."""

from datetime import timedelta

import pytest

from horae.domain.instances.instances import Lane
from horae.domain.instances.outcomes import ErrorCode, Retryable, Success
from horae.repositories.settle import AttemptOutcome, Settler
from horae.service.instances import instances, searches
from horae.store.instances.instances import Attempt
from tests.steps import a_job, claim_everywhere, move_clock, query


async def run_once(store, attempt, outcome=None, *, lane=Lane.FIRST):
    """One attempt that ends so; returns the instance."""
    [ran] = await claim_everywhere(store, lane=lane)
    await Settler(store.cell(ran.shard)).settle([AttemptOutcome(ran, None, outcome or Success(), attempt, 3)])
    return ran


async def stored(store):
    return (await query(store, "select attempts from instance_history"))[0]["attempts"]


async def test_a_plain_success_over_http_has_its_attempt_without_a_note(ctx, store):
    await a_job(ctx, "a")
    await instances.trigger(ctx, "a", "k", even_if_down=True)
    ran = await run_once(store, Attempt(1, 200, None, 12, started_at=ctx.now(), node="n1", request="POST a.example/"))
    assert await stored(store) is None
    found = await searches.find(ctx, ran.id)
    began = found.changed_at - timedelta(milliseconds=12)
    assert found.attempts == [{"attempt": 1, "status": 200, "duration_ms": 12, "started_at": began, "node": "n1"}]


@pytest.mark.parametrize(
    "note", [Attempt(1, 204, None, 12), Attempt(1, 200, None, 12, "ok"), Attempt(1, None, None, 5)]
)
async def test_what_the_row_does_not_say_is_stored(ctx, store, note):
    await a_job(ctx, "a")
    await instances.trigger(ctx, "a", "k", even_if_down=True)
    ran = await run_once(store, note)
    [found] = (await searches.find(ctx, ran.id)).attempts
    assert found == (await stored(store))[0]
    assert (found.get("status"), found.get("answer")) == (note.status, note.answer)


async def test_a_success_after_a_failure_keeps_both_notes(ctx, store):
    await a_job(ctx, "a")
    await instances.trigger(ctx, "a", "k", even_if_down=True)
    failed = Retryable(ErrorCode.HTTP_5XX, "answered 503")
    await run_once(store, Attempt(1, 503, ErrorCode.HTTP_5XX, 7), failed)
    await move_clock(store, minutes=1)
    ran = await run_once(store, Attempt(2, 200, None, 9), lane=Lane.RETRY)
    assert [note["status"] for note in (await searches.find(ctx, ran.id)).attempts] == [503, 200]
    assert len(await stored(store)) == 2


async def test_an_end_without_a_report_shows_no_attempt(ctx, store):
    await a_job(ctx, "a")
    await instances.trigger(ctx, "a", "k", even_if_down=True)
    ran = await run_once(store, None)
    assert (await searches.find(ctx, ran.id)).attempts is None
