from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.domain.errors import Invalid, InvalidSchedule
from horae.domain.jobs.jobs import Definition, check_name, own_queue
from horae.domain.schedules.triggers import (
    DelayTrigger,
    IntervalTrigger,
    OnceTrigger,
    cron,
    next_fire,
    single_fire,
)
from horae.domain.targets.targets import HttpTarget, QueueTarget, queue_of, slot_ms
from tests.domain.builders import NOW

times = st.datetimes(timezones=st.just(UTC), min_value=datetime(2000, 1, 1), max_value=datetime(2100, 1, 1))


@given(times, times, st.integers(1, 10**6))
def test_an_interval_keeps_its_anchor_and_always_moves_on(anchor, after, every):
    following = next_fire(IntervalTrigger(every, anchor), after)
    assert following >= anchor
    assert following > after or following == anchor
    assert (following - anchor) % timedelta(seconds=every) == timedelta()
    if following > anchor:
        assert following - timedelta(seconds=every) <= after


def test_the_seeds_expression_is_read_as_spring_and_said_so():
    trigger = cron("0 */5 * * * ?")
    assert trigger.dialect == "spring6"
    assert next_fire(trigger, NOW) == NOW + timedelta(minutes=5)


def test_once_and_delay_fire_at_one_time():
    assert single_fire(OnceTrigger(NOW), NOW - timedelta(days=1)) == NOW
    assert single_fire(DelayTrigger(90), NOW) == NOW + timedelta(seconds=90)
    assert next_fire(OnceTrigger(NOW), NOW - timedelta(days=1)) is None


def test_what_means_nothing_is_refused():
    with pytest.raises(InvalidSchedule):
        IntervalTrigger(0.5, NOW)
    with pytest.raises(InvalidSchedule):
        DelayTrigger(-1)
    with pytest.raises(InvalidSchedule):
        cron("0 0 30 2 *")
    with pytest.raises(Invalid):
        HttpTarget("ftp://example.org/")
    with pytest.raises(Invalid):
        HttpTarget("http://example.org/", method="BREW")
    for name in ("", "a/b", " a", "a" * 121, "a\n"):
        with pytest.raises(Invalid):
            check_name(name)


@pytest.mark.parametrize(
    "trigger", [cron("0 */5 * * * ?"), IntervalTrigger(60, NOW), OnceTrigger(NOW), DelayTrigger(5)]
)
def test_a_definition_survives_being_stored(trigger):
    for target in (HttpTarget("https://example.org/x"), own_queue("mail")):
        definition = Definition(trigger=trigger, target=target, payload={"a": [1]}, labels={"team": "x"})
        assert msgspec.convert(msgspec.json.decode(msgspec.json.encode(definition)), Definition) == definition


def test_a_slot_is_the_timeouts_and_a_margin_never_the_jobs_run_time():
    assert slot_ms(HttpTarget("http://example.org/")) == 13_000
    assert slot_ms(QueueTarget("mail")) == 30_000
    assert queue_of(QueueTarget("mail")) == "mail"
    assert queue_of(HttpTarget("http://example.org/")) is None
