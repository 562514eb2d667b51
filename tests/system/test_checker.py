"""The checker itself: evidence made by hand in a real database, each kind of violation put in and named."""

import asyncio
from datetime import timedelta
from uuid import uuid4

import pytest

from tests.system.evidence import Strike
from tests.system.handmade import Handmade, faultless, key_of


@pytest.fixture(scope="module")
def dsns(cluster):
    """One pair of cells for all: what is in them is made by hand, and taken away again."""
    names = asyncio.run(cluster.make_cells(2))
    yield [cluster.dsn(name) for name in names]
    asyncio.run(cluster.drop(names))


@pytest.fixture
async def made(dsns, tmp_path):
    made = Handmade(dsns, tmp_path)
    await made.open()
    yield made
    await made.close()


@pytest.fixture
async def run(made):
    return await faultless(made)


async def broken(made):
    return (await made.verdict()).broken


async def test_a_faultless_run_breaks_nothing_and_says_how_much_was_looked_at(made, run):
    verdict = await made.verdict()
    assert verdict.ok, str(verdict)
    assert verdict.counts["expected fires"] == verdict.counts["records"] == 4
    assert verdict.counts["decisions"] == 2
    assert verdict.counts["answers believed"] == 4
    assert verdict.counts["reports accepted"] == 1
    assert verdict.lateness["all"]["count"] == 5
    assert 0.01 < verdict.lateness["all"]["p50"] < 0.03


# --- fires --------------------------------------------------------------------------------------------------


async def test_a_fire_without_a_record_is_lost(made, run):
    await made.sql("delete from instance_history where id = $1", run["ids"][1])
    assert "lost" in await broken(made)


async def test_a_live_row_or_a_range_that_covers_it_is_a_record_too(made, run):
    await made.sql("delete from instance_history where id = any($1)", run["ids"][:3])
    await made.live(run["tick"], made.later(20))
    await made.event(run["tick"], None, "JOB_PAUSED", made.later(-1))
    await made.history(run["tick"], made.began, "SKIPPED", reason="PAUSED", range_to=made.later(10), range_count=2)
    assert "lost" not in await broken(made)
    assert "unexpected" not in await broken(made)


async def test_a_range_that_stands_for_another_number_of_fires_is_named(made, run):
    await made.sql("delete from instance_history where id = any($1)", run["ids"][:2])
    await made.history(run["tick"], made.began, "SKIPPED", reason="PAUSED", range_to=made.later(10), range_count=1)
    assert "unexpected" in await broken(made)


async def test_a_second_record_of_a_fire_is_a_double(made, run):
    await made.history(run["tick"], made.later(10), idem_key=f"other:{int(made.later(10).timestamp())}")
    assert "doubled" in await broken(made)


async def test_a_fire_no_schedule_names_is_unexpected(made, run):
    await made.history(run["tick"], made.later(13))
    assert "unexpected" in await broken(made)


async def test_a_new_version_owes_what_had_come_due_under_the_one_before(made, run):
    [row] = await made.sql("select * from job_version where job_id = $1", run["tick"])
    trigger = {**row["definition"]["trigger"], "every": 7.0}
    changed = {
        **dict(row),
        "version": 2,
        "created_at": made.later(21),
        "definition": {**row["definition"], "trigger": trigger},
    }
    await made.insert("job_version", **changed)
    assert "lost" in await broken(made), "28 is expected by the second version"
    await made.sql("delete from instance_history where id = $1", run["ids"][3])
    await made.sql("update instance_history set job_version = 2 where id = $1", run["ids"][2])
    for seconds in (28, 35):
        await made.history(run["tick"], made.later(seconds), job_version=2)
    assert not await broken(made) & {"lost", "unexpected"}


async def test_cron_fires_are_expected_by_the_zone_and_dialect_of_their_version(made):
    trigger = {"kind": "cron", "expression": "*/20 * * * * *", "dialect": "spring6", "zone": "Asia/Shanghai"}
    cron = await made.job("cron", trigger)
    verdict = await made.verdict()
    assert {violation.check for violation in verdict.violations} == {"lost"}
    for violation in verdict.violations:
        await made.history(cron, violation.rows[0])
    assert "lost" not in await broken(made)


async def test_a_job_that_is_paused_still_owes_only_what_came_before(made, run):
    await made.sql("delete from instance_history where id = $1", run["ids"][3])
    await made.sql("update job set status = 'PAUSED', held_from = $2 where id = $1", run["tick"], made.later(30))
    assert "lost" not in await broken(made)


async def test_a_fire_skipped_as_missed_that_was_not_late_is_named(made, run):
    await made.sql("delete from instance_history where id = $1", run["ids"][1])
    await made.history(run["tick"], made.later(10), "SKIPPED", reason="MISFIRE")
    assert "skip" in await broken(made)


# --- effects, deliveries, tokens ----------------------------------------------------------------------------


async def test_two_effects_of_one_key_are_named(made, run):
    made.effect(key_of(run["tick"], made.began), run["ids"][0], made.began)
    assert "effect" in await broken(made)


async def test_a_success_without_an_effect_and_an_effect_without_a_record_are_named(made, run):
    made.effect("nowhere:1", uuid4(), made.began)
    await made.history(run["tick"], made.later(-10))
    sentences = " ".join(map(str, (await made.verdict()).violations))
    assert "no record stands for it" in sentences
    assert "without an effect" in sentences


async def test_a_key_of_a_type_that_ignores_after_success_takes_effect_once(made, run):
    again = await made.history(run["publish"], made.later(15), idem_key="x:t:a:2", business_key="a", generation=2)
    made.delivered("x:t:a:2", again, "publish", made.later(15), business_key="a")
    assert "effect" in await broken(made)
    await made.sql("update instance_history set state = 'CANCELLED' where id = $1", run["task"])
    assert "effect" not in await broken(made), "it was cancelled while its call was on, and asked for anew"


async def test_a_second_delivery_needs_a_cause(made, run):
    at = made.later(10)
    made.delivered(key_of(run["tick"], at), run["ids"][1], "tick", at, arrived_at=at.timestamp() + 0.4, effect=False)
    assert "duplicate" in await broken(made)
    made.strikes.append(Strike("kill", at.timestamp() - 1, at.timestamp() + 1))
    verdict = await made.verdict()
    assert "duplicate" not in verdict.broken
    assert verdict.counts["delivered again: lost by kill"] == 1


async def test_a_retry_and_a_replacement_explain_a_second_delivery(made, run):
    tick, at = run["tick"], made.later(10)
    await made.sql("update instance_history set attempt = 2, retry_count = 1 where id = $1", run["ids"][1])
    made.delivered(key_of(tick, at), run["ids"][1], "tick", at, attempt=2, arrived_at=at.timestamp() + 2, effect=False)
    assert "duplicate" in await broken(made), "an attempt that did not fail is not tried again"
    told = {"attempt": 1, "retry_count": 1}
    await made.event(tick, run["ids"][1], "INSTANCE_FAILED", at, **told)
    verdict = await made.verdict()
    assert verdict.counts["delivered again: retry"] == 1
    assert "duplicate" not in verdict.broken


async def test_an_answer_to_an_older_call_that_was_believed_is_an_old_token(made, run):
    at = made.later(20)
    made.strikes.append(Strike("pause", at.timestamp(), at.timestamp() + 1))
    made.delivered(key_of(run["tick"], at), run["ids"][2], "tick", at, arrived_at=at.timestamp() + 0.3, effect=False)
    assert await broken(made) == {"token"}


async def test_a_timeout_sooner_than_the_last_call_of_an_attempt_allows_is_an_old_token(made, run):
    tick, instance, at = run["tick"], run["ids"][2], made.later(20)
    made.strikes.append(Strike("pause", at.timestamp(), at.timestamp() + 1))
    await made.sql("update instance_history set attempt = 2, retry_count = 1, attempts = null where id = $1", instance)
    told = {"attempt": 1, "retry_count": 1, "error_code": "TIMEOUT"}
    await made.event(tick, instance, "INSTANCE_FAILED", made.later(26), **told)
    for attempt, seconds in ((1, 20.8), (2, 28)):
        arrived = made.later(seconds).timestamp()
        made.delivered(key_of(tick, at), instance, "tick", at, attempt=attempt, arrived_at=arrived, effect=False)
    verdict = await made.verdict()
    assert verdict.ok, str(verdict)
    await made.sql("update outbox set at = $1 where event = 'INSTANCE_FAILED'", made.later(21))
    assert await broken(made) == {"token"}


async def test_a_report_accepted_after_a_newer_claim_is_an_old_token(made, run):
    hand = {"instance_id": str(run["pulled"]), "attempt": 2}
    made.called("claim", 3.1, job="pull", answer={"claimed": [hand]})
    assert "token" in await broken(made)


async def test_an_attempt_finished_twice_is_named(made, run):
    again = {"instance_id": str(run["pulled"]), "attempt": 1, "verdict": "done"}
    made.called("finish", 4, job="pull", answer={"results": [again]})
    assert "token" in await broken(made)


async def test_a_pause_must_show_that_a_late_write_was_refused(made, run):
    made.strikes.append(Strike("pause", made.later(1).timestamp(), made.later(9).timestamp()))
    made.said("node.started", 0)
    assert await broken(made) == {"refusal"}
    made.said("settle.late", 9.5, count=2)
    verdict = await made.verdict()
    assert verdict.ok, str(verdict)
    assert verdict.counts["late writes refused"] == 2


# --- states -------------------------------------------------------------------------------------------------


async def test_what_ended_does_not_live_on_nor_end_again(made, run):
    await made.live(run["tick"], made.later(10), id=run["ids"][1])
    assert "state" in await broken(made)
    await made.sql("delete from instance_live")
    await made.history(run["tick"], made.later(10), "DEAD", id=run["ids"][1], error_code="TIMEOUT")
    assert "state" in await broken(made)


async def test_an_attempt_fails_once_and_not_when_it_succeeded(made, run):
    await made.event(run["tick"], run["ids"][1], "INSTANCE_FAILED", made.later(11), attempt=1, retry_count=1)
    assert "state" in await broken(made)


async def test_a_delivery_beyond_the_attempts_of_its_record_is_named(made, run):
    at = made.later(10)
    made.delivered(key_of(run["tick"], at), run["ids"][1], "tick", at, attempt=3, effect=False)
    assert "state" in await broken(made)


# --- reschedules --------------------------------------------------------------------------------------------


async def test_a_decision_the_rules_do_not_allow_is_named(made, run):
    await made.sql("update outbox set event = 'TASK_CREATED' where event = 'TASK_MOVED'")
    assert "reschedule" in await broken(made)


async def test_an_acknowledged_time_that_was_lost_is_named(made, run):
    await made.sql("update instance_history set fire_time = $2 where id = $1", run["task"], made.later(20))
    assert "reschedule" in await broken(made)


async def test_an_answer_that_differs_from_what_was_written_is_named(made, run):
    made.called("put", 7, job="publish", key="a", at=made.later(30), answer={"decision": "moved", "revision": 2})
    assert "reschedule" in await broken(made)


async def test_calls_that_did_not_overlap_keep_their_order(made, run):
    made.called("put", 8, job="publish", key="a", at=made.later(20), answer={"decision": "created", "revision": 1})
    assert "reschedule" in await broken(made)


async def test_a_call_without_an_answer_may_or_may_not_have_taken_effect(made, run):
    made.called("put", 7, job="publish", key="a", at=made.later(30), ok=None)
    verdict = await made.verdict()
    assert verdict.ok, str(verdict)


async def test_a_time_that_nobody_asked_for_is_named(made, run):
    made.log.write_text("".join(made.log.read_text().splitlines(keepends=True)[:2]))
    assert "reschedule" in await broken(made)


async def test_an_older_intent_that_beat_a_newer_one_is_named(made, run):
    for number, revision in ((2, 1), (1, 2)):
        answer = {"decision": "moved", "revision": revision}
        made.called("put", number, job="other", key="b", intent=number, answer=answer)
    assert "reschedule" in await broken(made)


# --- time, limits, ends -------------------------------------------------------------------------------------


async def test_a_delivery_before_its_time_is_early(made, run):
    task = await made.history(run["tick"], made.later(34), idem_key="tick:m:early")
    made.delivered("tick:m:early", task, "tick", made.later(34), arrived_at=made.later(33.9).timestamp())
    assert await broken(made) == {"early"}


async def test_a_moved_clock_is_not_an_early_fire(made, run):
    await made.sql("update clock_offset set offset_ms = 600000")
    task = await made.history(run["tick"], made.later(601), idem_key="tick:m:later")
    made.delivered("tick:m:later", task, "tick", made.later(601), arrived_at=made.later(1.1).timestamp())
    assert "early" not in await broken(made)


async def test_more_calls_than_a_limit_allows_are_named(made):
    limited = await made.job("limited", {"kind": "manual"}, limit={"rate": 2.0, "burst": 1.0})
    for n in range(5):
        key = f"limited:m:{n}"
        made.delivered(key, await made.history(limited, made.later(1), idem_key=key), "limited", made.later(1))
    assert (await made.verdict()).ok, "two a second, one at once, and what was granted up to a second before"
    for n in range(5, 8):
        key = f"limited:m:{n}"
        made.delivered(key, await made.history(limited, made.later(1), idem_key=key), "limited", made.later(1))
    assert await broken(made) == {"limit"}


async def test_more_calls_at_once_than_a_limit_allows_are_named(made):
    serial = await made.job("serial", {"kind": "manual"}, limit={"concurrency": 1})
    for n in range(2):
        key = f"serial:m:{n}"
        made.delivered(key, await made.history(serial, made.later(1), idem_key=key), "serial", made.later(1))
    assert await broken(made) == {"limit"}


async def test_a_worker_that_is_given_more_than_it_asked_for_is_named(made, run):
    two = [{"instance_id": str(uuid4()), "attempt": 1} for _ in range(2)]
    made.called("claim", 5, limit=2, answer=two)
    assert (await made.verdict()).ok
    made.called("claim", 5, limit=1, answer=two)
    assert await broken(made) == {"limit"}


async def test_two_nodes_under_one_name_are_named(made, run):
    made.nodes = 1
    ages = {"started_at": made.began, "seen_at": made.began, "expires_at": made.later(600)}
    await made.insert("node", incarnation=uuid4(), name="host", **ages)
    [violation] = (await made.verdict()).violations
    assert violation.check == "identity", "nobody is known in the second cell"
    made.nodes = 2
    assert len((await made.verdict()).violations) == 2


async def test_a_call_on_its_way_for_longer_than_it_may_take_is_stuck_whatever_its_deadline(made, run):
    long_ago = made.began - timedelta(seconds=100)
    far = made.later(3600)
    await made.live(run["pull"], long_ago, "RUNNING", idem_key="pull:m:2", deadline=far)
    assert await broken(made) == {"stuck"}


async def test_what_runs_past_its_deadline_or_is_due_for_long_is_stuck(made, run):
    long_ago = made.began - timedelta(seconds=100)
    await made.live(run["pull"], long_ago, "RUNNING", idem_key="pull:m:2")
    assert await broken(made) == {"stuck"}
    await made.sql("delete from instance_live")
    await made.live(run["pull"], long_ago, idem_key="pull:m:2")
    assert await broken(made) == {"stuck"}
    await made.sql("delete from instance_live")
    await made.sql("update job_cursor set next_fire_at = $1", long_ago)
    assert await broken(made) == {"stuck"}


async def test_a_job_that_was_acknowledged_exists_as_it_was_asked_for(made, run):
    made.called("create_job", 0, job="tick", spec={"trigger": {"every": 20.0}})
    assert await broken(made) == {"promise"}
    made.log.write_text("")
    made.called("create_job", 0, job="nobody")
    assert await broken(made) == {"promise"}
