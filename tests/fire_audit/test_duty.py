"""The audit of fires as a duty of nodes: what it names, how soon, and what it costs."""

from datetime import timedelta

import pytest

from horae.service.jobs import jobs
from horae.service.schedules import backfills
from horae.service.schedules.backfills import BackfillRequest
from horae.upkeep.fire_audit import WALK_INTERVAL, FireAuditor
from horae.upkeep.open_findings import RECHECK_INTERVAL, STILL_AFTER
from tests.steps import query

BEGIN = "2030-03-05T00:00:00Z"
ROUND = timedelta(seconds=15)
SECOND = timedelta(seconds=1)
KEEP_ROW = "create function keep_row() returns trigger language plpgsql as 'begin return null; end'"
FREEZE = """create trigger frozen before update on job_cursor for each row when (old.job_id = '{job}')
            execute function keep_row()"""
FOUND = "select fault, fire_time, found_at, ended_at from fire_finding where job_id = $1 order by fire_time, fault"
EVENTS = "select event, body from outbox where event like 'FIRE_FAULT%' order by at"


class Audited:
    """A server, and the duty over its cells. Time passes in rounds of 15 seconds."""

    def __init__(self, horae):
        self.horae, self.store = horae, horae._world.ctx.store
        self.duty = FireAuditor(self.store)

    def round_at(self, moment):
        """Let time pass until a moment, with a node, and run a round then."""
        self.horae.advance_to(moment)
        self.horae._do(self.duty.once())

    def look_in_vain_at(self, moment):
        """Let time pass until a moment, and run a look of the node and a round then. `advance` would try for long."""
        self.horae._world.time = moment
        self.horae._background.run(self.horae._world.hold())
        self.horae._background.run(self.horae._world._node.fire_due())
        self.horae._do(self.duty.once())

    def job(self, name):
        return self.horae._do(jobs.find(self.horae._world.ctx, name))

    def ask(self, job, statement, *args):
        return self.horae._do(query(self.store.cell(job.shard), statement, *args))

    def found(self, job):
        return self.ask(job, FOUND, job.id)


@pytest.fixture
def audited(horae):
    return Audited(horae)


@pytest.mark.horae(at=BEGIN, cells=2)
def test_a_frozen_schedule_is_named_within_two_minutes_and_ends_when_it_fires(audited):
    begin = audited.horae.now
    due = begin + timedelta(minutes=10)
    audited.horae.job("frozen", cron="*/10 * * * *")
    audited.horae.job("beside", cron="*/10 * * * *")
    job = audited.job("frozen")
    audited.ask(job, KEEP_ROW)
    audited.ask(job, FREEZE.format(job=job.id))
    audited.round_at(begin)
    audited.look_in_vain_at(due + SECOND)
    audited.look_in_vain_at(due + STILL_AFTER - SECOND)  # just too early, as the worst case is
    audited.look_in_vain_at(due + STILL_AFTER - SECOND + ROUND)
    assert audited.found(job) == []
    audited.look_in_vain_at(due + STILL_AFTER - SECOND + 2 * ROUND)
    [(fault, fire_time, found_at, ended_at)] = audited.found(job)
    assert (fault, fire_time, ended_at) == ("STANDS_STILL", due, None)
    assert found_at <= due + timedelta(minutes=2)
    audited.look_in_vain_at(due + 3 * STILL_AFTER)
    assert len(audited.found(job)) == 1
    audited.ask(job, "drop trigger frozen on job_cursor")
    audited.ask(job, "drop function keep_row()")
    audited.round_at(due + 4 * STILL_AFTER)
    assert audited.found(job)[0]["ended_at"] is not None
    assert audited.found(audited.job("beside")) == []
    assert [row["event"] for row in audited.ask(job, EVENTS)] == ["FIRE_FAULT_FOUND", "FIRE_FAULT_ENDED"]


@pytest.mark.horae(at=BEGIN, cells=2)
def test_a_missing_fire_is_found_by_the_next_walk_and_ends_when_it_is_backfilled(audited):
    begin = audited.horae.now
    audited.horae.job("lost", cron="*/2 * * * *")
    job = audited.job("lost")
    audited.round_at(begin + timedelta(minutes=3))
    lost = begin + timedelta(minutes=2)
    audited.ask(job, "delete from instance_history where job_id = $1 and fire_time = $2", job.id, lost)
    audited.round_at(begin + timedelta(minutes=3) + WALK_INTERVAL + ROUND)
    [(fault, fire_time, _, ended_at)] = audited.found(job)
    assert (fault, fire_time, ended_at) == ("MISSING", lost, None)
    wanted = BackfillRequest(lost, lost + timedelta(seconds=1))
    audited.horae._do(backfills.start(audited.horae._world.ctx, "lost", "once", wanted))
    audited.round_at(audited.horae.now + RECHECK_INTERVAL + ROUND)
    assert [row["ended_at"] is not None for row in audited.found(job)] == [True]


@pytest.mark.horae(at=BEGIN, cells=1)
def test_a_cursor_past_its_next_fire_is_found_and_planned_again(audited):
    begin = audited.horae.now
    audited.horae.job("jumped", cron="0 * * * *")
    job = audited.job("jumped")
    audited.round_at(begin)
    audited.ask(job, "update job_cursor set next_fire_at = next_fire_at + interval '1 day' where job_id = $1", job.id)
    audited.round_at(begin + WALK_INTERVAL + ROUND)
    assert [row["fault"] for row in audited.found(job)] == ["STANDS_STILL"]
    assert audited.job("jumped").next_fire_at == begin + timedelta(hours=1)
    audited.round_at(begin + WALK_INTERVAL + 2 * ROUND)
    assert audited.found(job)[0]["ended_at"] is not None
