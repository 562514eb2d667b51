"""Retries of long work that wait when a measure puts short work first: when they go, and how much is kept."""

from datetime import timedelta
from uuid import uuid4

from horae.domain.instances.instances import Lane
from horae.domain.measures.in_force import NO_MEASURES, in_force
from horae.domain.measures.measures import MeasureName, MeasureState
from horae.engine import long_retries
from horae.engine.long_retries import LongRetries
from tests.domain.builders import NOW
from tests.engine.builders import TENANT, a_timer

SHORT, LONG, LONGER, LONGEST, UNKNOWN = (uuid4() for _ in range(5))
DURATIONS_MS = {SHORT: 20, LONG: 2000, LONGER: 20_000, LONGEST: 200_000}


def backlog_of(tenant=TENANT):
    facts = {"level": 1, "since": NOW, "judged_until": NOW, "tenant_id": tenant}
    return in_force([MeasureState(name=MeasureName.RETRY_BACKLOG, **facts)], NOW)


def a_retry(job_id, tenant=TENANT):
    return a_timer(NOW, tenant=tenant, lane=Lane.RETRY, job_id=job_id)


def retries(forget=lambda _timer: None):
    return LongRetries(DURATIONS_MS.get, forget)


def test_each_bucket_waits_for_its_time_and_what_is_no_retry_passes():
    held = retries()
    held.follow(backlog_of(), NOW)
    first = a_timer(NOW, job_id=LONGEST)
    timers = [a_retry(job) for job in (LONGEST, LONGER, LONG, SHORT, UNKNOWN)]
    assert held.hold_back([*timers, first], NOW) == [*timers[3:], first]
    assert held.wait_s(NOW) == 60
    for seconds, timer in ((60, timers[2]), (180, timers[1]), (300, timers[0])):
        at = NOW + timedelta(seconds=seconds)
        assert list(held.pop_due(at - timedelta(seconds=1), 10)) == []
        assert list(held.pop_due(at, 10)) == [timer]
        assert held.hold_back([timer], at) == [timer], "it is not held twice"
    assert held.wait_s(NOW) is None


def test_another_tenant_is_not_concerned_and_the_platform_concerns_all():
    held, other = retries(), a_retry(LONG, uuid4())
    held.follow(backlog_of(), NOW)
    assert held.hold_back([other], NOW) == [other]
    held.follow(backlog_of(long_retries.PLATFORM_SCOPE), NOW)
    assert held.hold_back([other], NOW) == []


def test_when_the_measure_ends_everything_may_go_in_portions():
    held = retries()
    held.follow(backlog_of(), NOW)
    timers = [a_retry(LONG) for _ in range(5)]
    held.hold_back(timers, NOW)
    held.follow(NO_MEASURES, NOW)
    assert held.wait_s(NOW) == 0
    assert [*held.pop_due(NOW, 3), *held.pop_due(NOW, 3)] == timers
    assert held.hold_back(timers, NOW) is timers


def test_what_is_kept_is_bounded_and_the_rest_stays_in_its_row(monkeypatch):
    monkeypatch.setattr(long_retries, "MAX_HELD_RETRIES", 3)
    forgotten = []
    held = retries(forgotten.append)
    held.follow(backlog_of(), NOW)
    timers = [a_retry(LONG) for _ in range(5)]
    assert held.hold_back(timers, NOW) == []
    assert (len(held), forgotten) == (3, timers[3:])
