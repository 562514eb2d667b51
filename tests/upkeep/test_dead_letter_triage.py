"""Dead-letter triage: failure causes, changes to many, and paced replays with a canary."""

from functools import partial

import asyncpg
import pytest
from msgspec.structs import replace

from horae.domain.errors import Conflict, Invalid, NotFound
from horae.domain.ids import shard_in
from horae.domain.instances.dead_letters import DeadLetterFilter
from horae.domain.instances.instances import Lane
from horae.domain.instances.outcomes import ErrorCode, Success, Unrecoverable
from horae.domain.instances.paced_replays import MAX_RUNNING
from horae.domain.limits.limits import Limit
from horae.domain.measures.in_force import NO_MEASURES, MeasureInForce, MeasuresInForce
from horae.domain.measures.measures import PLATFORM_SCOPE, MeasureAction, MeasureName, MeasureState
from horae.domain.targets.targets import request_line
from horae.domain.tenants.tenants import Allowance
from horae.service.context import Context, PlatformContext
from horae.service.instances import (
    bulk_dead_letters,
    dead_letters,
    failure_causes,
    interventions,
    paced_replays,
    paced_steps,
)
from horae.service.schedules import schedules
from horae.service.tasks import tasks
from horae.service.tenants import tenants
from horae.upkeep import dead_letter_triage
from horae.upkeep.copies import Copier
from horae.upkeep.dead_letter_triage import CauseSorter, PacedReplayer
from tests.steps import NOWHERE, a_type, claim_everywhere, move_clock, query, settle

TYPE = "ARTICLE_PUBLISH"
BUSY = Unrecoverable(ErrorCode.HTTP_5XX, "answered 503")
TRANSIENT = DeadLetterFilter(tag="transient_error")
OPEN = "select instance_id from dead_letter where replay_status = 'NEW'"


@pytest.fixture
async def type_(ctx, store):
    job = await a_type(ctx, TYPE)
    await Copier(store).once()
    return job


async def let_die(ctx, store, *keys, outcome=BUSY, name=TYPE):
    died = [(await tasks.schedule(ctx, name, key)).instance_id for key in keys]
    while claimed := await claim_everywhere(store):
        for ran in claimed:
            await settle(store, ran, outcome)
    return died


def gone(message):
    return Unrecoverable(ErrorCode.HTTP_4XX, message)


async def a_round(store, in_force=NO_MEASURES):
    """One step of every paced replay, a second after the one before."""
    await move_clock(store, seconds=1.1)
    return await PacedReplayer(store, lambda _cell: in_force).once()


async def run_replays(store, outcome):
    """Give the replays that were sent an outcome; returns how many there were."""
    claimed = await claim_everywhere(store, lane=Lane.BACKFILL)
    for ran in claimed:
        await settle(store, ran, outcome)
    return len(claimed)


async def test_dead_letters_are_grouped_by_job_code_and_normalised_message_over_all_cells(ctx, store, type_):
    await a_type(ctx, "OTHER")
    await Copier(store).once()
    await let_die(ctx, store, *(f"b{n}" for n in range(12)))
    for n in range(5):
        await let_die(ctx, store, f"g{n}", outcome=gone(f"no order {n} for user 'u{n}'"))
    await let_die(ctx, store, "o", name="OTHER")
    before = await failure_causes.listing(ctx)
    assert (before.causes, before.unsorted) == ([], 18)
    while await CauseSorter(store).once():
        pass
    found = await failure_causes.listing(ctx)
    assert (found.unsorted, found.is_complete) == (0, True)
    assert [(one.job, one.error_code, one.message, one.open, one.last_hour) for one in found.causes] == [
        (TYPE, "HTTP_5XX", "answered 503", 12, 12),
        (TYPE, "HTTP_4XX", "no order <n> for user <text>", 5, 5),
        ("OTHER", "HTTP_5XX", "answered 503", 1, 1),
    ]
    assert [one.open for one in (await failure_causes.listing(ctx, "OTHER")).causes] == [1]
    assert {one.target for one in found.causes} == {request_line(NOWHERE)}


async def test_counts_say_when_they_died_and_the_trend(ctx, store, type_):
    await let_die(ctx, store, "a", "b", "c")
    await move_clock(store, hours=30)
    await let_die(ctx, store, "d")
    await move_clock(store, hours=2)
    await let_die(ctx, store, "e")
    await CauseSorter(store).once()
    [one] = (await failure_causes.listing(ctx)).causes
    assert (one.open, one.last_hour, one.last_day, one.day_before, one.trend) == (5, 1, 2, 3, "falling")


async def test_a_cause_shows_samples_and_what_changed_since_they_died(ctx, store, type_):
    await let_die(ctx, store, *(f"b{n}" for n in range(8)))
    await CauseSorter(store).once()
    [cause] = (await failure_causes.listing(ctx)).causes
    detail = await failure_causes.show(ctx, cause.id)
    assert len(detail.samples) == failure_causes.SAMPLES
    assert {one.error_msg for one in detail.samples} == {"answered 503"}
    assert (detail.since.job_version, detail.since.changed, detail.since.ended) == (1, False, {})
    await schedules.update(ctx, TYPE, replace(type_.definition, description="fixed"))
    await Copier(store).once()
    await move_clock(store, minutes=1)
    await tasks.schedule(ctx, TYPE, "well")
    for ran in await claim_everywhere(store):
        await settle(store, ran, Success())
    await move_clock(store, minutes=1)
    since = (await failure_causes.show(ctx, cause.id)).since
    assert (since.job_version, since.changed, since.ended) == (2, True, {"SUCCESS": 1})
    with pytest.raises(NotFound):
        await failure_causes.show(ctx, type_.id)


async def test_a_replay_that_dies_of_another_cause_is_sorted_again(ctx, store, type_):
    [died] = await let_die(ctx, store, "a")
    await CauseSorter(store).once()
    await dead_letters.replay(ctx, died)
    for ran in await claim_everywhere(store):
        await settle(store, ran, gone("no such order"))
    assert (await failure_causes.listing(ctx)).unsorted == 1
    await CauseSorter(store).once()
    [one] = (await failure_causes.listing(ctx)).causes
    assert (one.error_code, one.message) == ("HTTP_4XX", "no such order")


async def test_dead_letters_of_a_shard_that_moves_are_left_to_where_it_is_open(ctx, store, type_):
    [moving, *others] = await let_die(ctx, store, *"abcdefgh")
    [cell] = [cell for cell in store.cells if shard_in(moving) in store.shards_of(cell)]
    await query(cell, "update shard set state = 'FROZEN' where shard_id = $1", shard_in(moving))
    left_out = {one for one in others if shard_in(one) == shard_in(moving)} | {moving}
    assert await CauseSorter(store).once() == 8 - len(left_out)
    assert await CauseSorter(store).once() == 0, "what it cannot sort is not found again and again"
    await query(cell, "update shard set state = 'ACTIVE' where shard_id = $1", shard_in(moving))
    assert await CauseSorter(store).once() == len(left_out)


async def test_an_edited_payload_is_replayed_and_kept(ctx, store, type_):
    [died] = await let_die(ctx, store, "a")
    before = (await dead_letters.listing(ctx))[0]
    made = await dead_letters.replay(ctx, died, {"fixed": True})
    [letter] = await dead_letters.listing(ctx)
    assert letter.payload == {"fixed": True}
    [row] = await query(store, "select id, idem_key, fire_time, replay_of from instance_live")
    assert tuple(row) == (made, before.idem_key, before.fire_time, died)
    [audited] = await query(store, "select detail from audit_log where action = 'dead_letter.replayed'")
    assert audited["detail"]["edited"] is True
    assert "fixed" not in str(audited["detail"])


async def test_many_are_discarded_with_a_reason(ctx, store, type_):
    await let_die(ctx, store, *(f"b{n}" for n in range(230)))
    await let_die(ctx, store, "g", outcome=gone("no"))
    assert await bulk_dead_letters.discard_by(ctx, TRANSIENT, 205, "the campaign is over") == (205, 0)
    assert await bulk_dead_letters.discard_by(ctx, TRANSIENT, 5000, "the campaign is over") == (25, 0)
    assert len(await query(store, OPEN)) == 1
    audited = await query(store, "select detail from audit_log where action = 'dead_letter.discarded'")
    assert {row["detail"]["reason"] for row in audited} == {"the campaign is over"}
    assert sum(len(row["detail"]["letters"]) for row in audited) == 230
    events = await query(store, "select body from outbox where event = 'DEAD_LETTER_DISCARDED'")
    assert {row["body"]["reason"] for row in events} == {"the campaign is over"}
    assert len(events) == 230
    with pytest.raises(Invalid):
        await bulk_dead_letters.discard_by(ctx, DeadLetterFilter(), 10, "everything")


async def test_tags_of_people_select_dead_letters_beside_the_tag_of_the_error(ctx, store, type_):
    await let_die(ctx, store, "a", "b")
    await let_die(ctx, store, "g", outcome=gone("no"))
    tag = partial(bulk_dead_letters.tag_by, ctx, TRANSIENT, 100)
    assert await tag(added=["later", "shop"], removed=[]) == (2, 0)
    assert await tag(added=[], removed=["shop"]) == (2, 0)
    assert {one.tags for one in await dead_letters.listing(ctx, tag="later")} == {("later",)}
    assert len(await dead_letters.listing(ctx, tag="transient_error")) == 2
    assert await dead_letters.listing(ctx, tag="shop") == []
    assert await tag(added=[f"t{n}" for n in range(8)], removed=[]) == (0, 2)
    for added in ([], [f"t{n}" for n in range(9)]):
        with pytest.raises(Invalid):
            await tag(added=added, removed=[])
    assert await dead_letters.replay_by(ctx, tag="later") == (2, 0)


async def test_a_paced_replay_sends_its_pace_every_second_and_ends_with_the_outcomes(ctx, store, type_):
    died = await let_die(ctx, store, *(f"b{n}" for n in range(25)))
    made = await paced_replays.start(ctx, TRANSIENT, limit=5000, pace=10)
    await let_die(ctx, store, "later")  # it died after the replay was asked for
    sent = []
    for _ in range(3):
        await a_round(store)
        sent.append((await paced_replays.show(ctx, made.id)).progress.sent)
    assert sent == [10, 20, 25]
    rows = await query(store, "select replay_of, idem_key, fire_time, lane from instance_live")
    assert {row["lane"] for row in rows} == {Lane.BACKFILL}
    letters = await query(store, "select instance_id, idem_key, fire_time from dead_letter where replay_id is not null")
    assert {tuple(row)[:3] for row in rows} == {tuple(row) for row in letters}
    assert {row["replay_of"] for row in rows} == set(died)
    await a_round(store)
    assert (await paced_replays.show(ctx, made.id)).waits_for == "the outcomes of 25 replays"
    assert await run_replays(store, Success()) == 25
    await a_round(store)
    done = await paced_replays.show(ctx, made.id)
    assert (done.status, done.progress.succeeded, done.progress.failed) == ("COMPLETED", 25, 0)
    assert await a_round(store) == 0


async def test_two_nodes_do_one_step_a_second(ctx, store, type_):
    await let_die(ctx, store, *(f"b{n}" for n in range(25)))
    await paced_replays.start(ctx, TRANSIENT, limit=100, pace=5)
    await move_clock(store, seconds=1.1)
    for _ in range(3):
        await PacedReplayer(store, lambda _cell: NO_MEASURES).once()
    assert len(await query(store, "select from instance_live")) == 5


async def test_a_canary_that_fails_stops_the_replay(ctx, store, type_):
    await let_die(ctx, store, *(f"b{n}" for n in range(20)))
    made = await paced_replays.start(ctx, TRANSIENT, limit=100, pace=10, canary=3)
    for _ in range(3):
        await a_round(store)
    assert len(await query(store, "select from instance_live")) == 3
    assert (await paced_replays.show(ctx, made.id)).status == "CANARY"
    await run_replays(store, BUSY)
    await a_round(store)
    done = await paced_replays.show(ctx, made.id)
    assert (done.status, done.ended_because) == ("STOPPED", "the canary failed: 3 of 3 did not succeed")
    await a_round(store)
    assert await query(store, "select from instance_live") == []
    assert len(await query(store, OPEN)) == 17


async def test_a_canary_that_succeeds_lets_the_others_follow(ctx, store, type_):
    await let_die(ctx, store, *(f"b{n}" for n in range(20)))
    made = await paced_replays.start(ctx, TRANSIENT, limit=100, pace=10, canary=3)
    await a_round(store)
    assert await run_replays(store, Success()) == 3
    await a_round(store)
    assert (await paced_replays.show(ctx, made.id)).status == "RUNNING"
    await a_round(store)
    assert await run_replays(store, Success()) == 17
    await a_round(store)
    done = await paced_replays.show(ctx, made.id)
    assert (done.status, done.progress.succeeded) == ("COMPLETED", 20)


async def test_too_many_failures_stop_a_replay_and_none_is_sent_twice(ctx, store, type_):
    await let_die(ctx, store, *(f"b{n}" for n in range(20)))
    made = await paced_replays.start(ctx, TRANSIENT, limit=100, pace=5, max_failures=7)
    for _ in range(4):
        await a_round(store)
        await run_replays(store, BUSY)
    done = await paced_replays.show(ctx, made.id)
    assert (done.status, done.progress.failed) == ("STOPPED", 10)
    again = await query(store, "select count(*) from instance_history where lane = 2 group by idem_key")
    assert {row["count"] for row in again} == {1}


async def test_a_cancelled_replay_is_open_again_and_not_sent_again(ctx, store, type_):
    await let_die(ctx, store, "a", "b")
    made = await paced_replays.start(ctx, TRANSIENT, limit=100)
    await a_round(store)
    for row in await query(store, "select id from instance_live"):
        await interventions.cancel(ctx, row["id"])
    await a_round(store)
    done = await paced_replays.show(ctx, made.id)
    assert (done.status, done.progress.returned) == ("COMPLETED", 2)


async def test_what_cannot_be_sent_is_counted_and_not_in_the_way(ctx, store, type_):
    await let_die(ctx, store, "a", "b")
    await query(store, "update task_key set outcome = 'SUCCESS' where business_key = 'a'")
    made = await paced_replays.start(ctx, TRANSIENT, limit=100, pace=1)
    for _ in range(3):
        await a_round(store)
    await run_replays(store, Success())
    await a_round(store)
    done = await paced_replays.show(ctx, made.id)
    assert (done.status, done.progress.succeeded, done.progress.refused) == ("COMPLETED", 1, 1)


async def test_a_replay_whose_step_fails_says_so_and_stops_no_other_one(ctx, store, type_, monkeypatch):
    other = Context.of(store, await tenants.create(PlatformContext(store, "test"), "globex", width=16), "test")
    await a_type(other, TYPE)
    await Copier(store).once()
    await let_die(ctx, store, "a")
    await let_die(other, store, "b")
    broken, sound = [await paced_replays.start(one, TRANSIENT, limit=1) for one in (ctx, other)]
    monkeypatch.setattr(paced_steps, "send_as_backfill", partial(fail_for, ctx.tenant, paced_steps.send_as_backfill))
    for _ in range(3):
        await query(store, "update paced_replay set next_at = next_at - interval '1 hour' where id = $1", broken.id)
        await a_round(store)
        await run_replays(store, Success())
    assert (await paced_replays.show(other, sound.id)).status == "COMPLETED"
    waits = await paced_replays.show(ctx, broken.id)
    assert (waits.status, waits.waits_for) == ("RUNNING", "a step that failed (LookupError); it is tried again")


async def test_a_replay_that_a_cell_cannot_serve_now_stops_no_other_one(ctx, store, type_, monkeypatch):
    other = Context.of(store, await tenants.create(PlatformContext(store, "test"), "globex", width=16), "test")
    await a_type(other, TYPE)
    await Copier(store).once()
    await let_die(ctx, store, "a")
    await let_die(other, store, "b")
    cut, sound = [await paced_replays.start(one, TRANSIENT, limit=1) for one in (ctx, other)]
    home = PacedReplayer(store, lambda _cell: NO_MEASURES)
    take = paced_steps.do_step

    async def do_step(cells, cell, replay, *args):
        if replay.id == cut.id:
            raise asyncpg.QueryCanceledError("canceling statement due to statement timeout")
        return await take(cells, cell, replay, *args)

    monkeypatch.setattr(dead_letter_triage, "do_step", do_step)
    for _ in range(3):
        await query(store, "update paced_replay set next_at = next_at - interval '1 hour' where id = $1", cut.id)
        await move_clock(store, seconds=1.1)
        await home.once()
        await run_replays(store, Success())
    assert (await paced_replays.show(other, sound.id)).status == "COMPLETED"
    monkeypatch.setattr(dead_letter_triage, "do_step", take)
    for _ in range(3):
        await a_round(store)
        await run_replays(store, Success())
    assert (await paced_replays.show(ctx, cut.id)).status == "COMPLETED"


async def fail_for(tenant, send, ctx, *args):
    """What no test of a step has foreseen."""
    if ctx.tenant == tenant:
        raise LookupError("planted")
    return await send(ctx, *args)


async def test_a_measure_that_closes_backfills_holds_a_replay_back(ctx, store, type_):
    await let_die(ctx, store, "a")
    made = await paced_replays.start(ctx, TRANSIENT, limit=100)
    now = store.cells[0].clock.now()
    state = MeasureState(
        name=MeasureName.INCIDENT, tenant_id=PLATFORM_SCOPE, judged_until=now, since=now, level=1, value=1.0
    )
    closed = frozenset({MeasureAction.CLOSE_BACKFILLS})
    await a_round(store, MeasuresInForce(closed, {}, (MeasureInForce(state, closed),)))
    assert (await paced_replays.show(ctx, made.id)).waits_for == "the measure incident"
    assert await query(store, "select from instance_live") == []
    await a_round(store)
    assert len(await query(store, "select from instance_live")) == 1


async def test_the_retry_budget_of_the_tenant_pays_for_it(ctx, store, type_, tenant):
    await let_die(ctx, store, *(f"b{n}" for n in range(9)))
    await tenants.allow(PlatformContext(store, "test"), tenant.name, Allowance(retries=Limit(rate=0.001, burst=3)))
    await Copier(store).once()
    made = await paced_replays.start(ctx, TRANSIENT, limit=100, pace=9)
    await a_round(store)
    found = await paced_replays.show(ctx, made.id)
    assert found.progress.sent < 9
    assert (found.progress.sent == 0) == (found.waits_for == "the retry budget of the tenant")


async def test_a_replay_is_stopped_by_a_person_and_bounded_in_number(ctx, store, type_):
    await let_die(ctx, store, "a")
    made = await paced_replays.start(ctx, TRANSIENT, limit=100)
    stopped = await paced_replays.stop(ctx, made.id)
    assert (stopped.status, stopped.ended_because) == ("STOPPED", "stopped by test")
    with pytest.raises(Conflict):
        await paced_replays.stop(ctx, made.id)
    assert await a_round(store) == 0
    assert await query(store, "select from instance_live") == []
    for _ in range(MAX_RUNNING):
        await paced_replays.start(ctx, TRANSIENT, limit=100)
    with pytest.raises(Conflict):
        await paced_replays.start(ctx, TRANSIENT, limit=100)
    listed = await paced_replays.listing(ctx, limit=5)
    rest = await paced_replays.listing(ctx, before=listed[-1].id)
    assert (len(listed), len(rest), rest[-1].id) == (5, 6, made.id)
    actions = await query(store, "select action from audit_log where action like 'dead_letter.replay_%'")
    assert sorted({row["action"] for row in actions}) == ["dead_letter.replay_started", "dead_letter.replay_stopped"]


async def test_another_tenant_sees_and_changes_nothing(ctx, store, type_):
    await let_die(ctx, store, "a")
    await CauseSorter(store).once()
    [cause] = (await failure_causes.listing(ctx)).causes
    made = await paced_replays.start(ctx, TRANSIENT, limit=1)
    other = Context.of(store, await tenants.create(PlatformContext(store, "test"), "globex", width=16), "test")
    assert (await failure_causes.listing(other)).causes == []
    assert await paced_replays.listing(other) == []
    assert await bulk_dead_letters.discard_by(other, TRANSIENT, 10, "no") == (0, 0)
    for verb, id_ in ((failure_causes.show, cause.id), (paced_replays.show, made.id), (paced_replays.stop, made.id)):
        with pytest.raises(NotFound):
            await verb(other, id_)
