"""Measures: 500 random traces against an independent model, and whom a signal concerns."""

from datetime import UTC, datetime, timedelta
from random import Random
from uuid import UUID

import pytest

from horae.domain.errors import Invalid
from horae.domain.health.signals import BUCKETS, bucket_of
from horae.domain.instances.instances import Priority
from horae.domain.measures.causes import MeasureSignal, judge_scopes
from horae.domain.measures.in_force import in_force
from horae.domain.measures.judgement import LinePosition, advance, compare
from horae.domain.measures.measures import (
    DEFAULT_LINES,
    JUDGED,
    LEVELS,
    PLATFORM_SCOPE,
    MeasureAction,
    MeasureLines,
    MeasureName,
    MeasureOverride,
    MeasureState,
)

START = datetime(2026, 11, 11, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
TRACES = 500
DELAY, RATE = MeasureName.TRIGGER_DELAY_P95, MeasureName.RUN_SUCCESS_RATE_10M
BACKLOG, DEAD = MeasureName.RETRY_BACKLOG, MeasureName.DLQ_GROWTH_RATE
ALICE, BOB = UUID(int=1), UUID(int=2)


def lines_of(_tenant_id):
    return DEFAULT_LINES


def fresh(name=DELAY):
    return MeasureState(name=name, judged_until=START)


def run(values, name=DELAY):
    """The states after each of these minutes."""
    states, state, line = [], fresh(name), DEFAULT_LINES.line(name)
    for place, value in enumerate(values):
        state = advance(state, compare(name, value, line), value, START + place * MINUTE)
        states.append(state)
    return states


def model(values, name, line):
    """The levels of a trace, by looking back over the whole trace in each minute: no counters are kept."""
    levels, changed_at = [0], -100
    bad = [(1 - value > 1 - line) if name is RATE else value > line for value in values]
    good = [(1 - value <= 0.8 * (1 - line)) if name is RATE else value <= 0.8 * line for value in values]
    for now in range(len(values)):
        level = levels[-1]
        streak = next((back for back in range(now + 1) if not bad[now - back]), now + 1)
        risen = sum(streak >= minutes for minutes, _ in LEVELS[name])
        calm = now >= 2 and now - 2 > changed_at and all(good[now - 2 : now + 1])
        if risen > level:
            level, changed_at = risen, now
        elif level and calm and now - changed_at >= 5:
            level, changed_at = level - 1, now
        levels.append(level)
    return levels[1:]


def trace(chance, line, *, less_is_worse):
    """Calm, trouble and calm again, with noise around the line all the time, and a calm end."""
    values = []
    for _ in range(chance.randrange(2, 9)):
        middle, noise = chance.choice([0.3, 0.7, 0.95, 1.0, 1.05, 1.5, 4.0]), chance.choice([0.0, 0.1, 0.5, 1.0])
        values += [line * max(0.0, middle + chance.uniform(-noise, noise)) for _ in range(chance.randrange(1, 30))]
    values += [0.0] * 20
    return [max(0.0, 1 - value * (1 - line) / line) for value in values] if less_is_worse else values


def test_500_random_traces_agree_with_the_model_and_neither_flap_nor_stay_open():
    opened = 0
    for seed in range(TRACES):
        chance = Random(seed)
        name = chance.choice(JUDGED)
        line = DEFAULT_LINES.line(name)
        values = trace(chance, line, less_is_worse=name is RATE)
        levels = [state.level for state in run(values, name)]
        assert levels == model(values, name, line), f"seed {seed}, {name}"
        assert levels[-1] == 0, f"seed {seed}: {name} stays open"
        changes = [place for place in range(1, len(levels)) if levels[place] != levels[place - 1]]
        falls = [place for place in changes if levels[place] < levels[place - 1]]
        for fall in falls:
            before = max((place for place in changes if place < fall), default=-1)
            assert fall - before >= 5, f"seed {seed}: {name} fell {fall - before} minutes after it changed"
        opened += any(levels)
    assert opened > TRACES // 2


def test_late_fires_first_limit_low_priority_then_pause_it_and_it_comes_back_in_steps():
    levels = [state.level for state in run([2100] * 7 + [100] * 13)]
    assert levels == [1, 1, 1, 1, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0]
    limited, paused = LEVELS[DELAY]
    assert limited == (1, {MeasureAction.LIMIT_LOW})
    assert paused == (5, {MeasureAction.PAUSE_LOW, MeasureAction.ASK_FOR_DISPATCHERS})


@pytest.mark.parametrize(
    ("name", "within", "beyond", "actions"),
    [
        (RATE, 0.995, 0.9949, {MeasureAction.SLOW_RETRIES, MeasureAction.CLOSE_BACKFILLS}),
        (BACKLOG, 200_000, 200_001, {MeasureAction.SHORT_RETRIES_FIRST}),
        (DEAD, 1000, 1001, {MeasureAction.CORE_ONLY}),
        (MeasureName.PEAK_LOAD, 0.8, 0.81, {MeasureAction.THIN_LOW}),
    ],
)
def test_each_measure_has_its_line_and_its_actions(name, within, beyond, actions):
    [before] = run([within], name)
    [after] = run([beyond], name)
    assert not before.actions_at(START + MINUTE)
    assert after.actions_at(START + MINUTE) == actions


def test_a_minute_is_judged_once_and_a_measure_that_nobody_judges_any_more_ends():
    [state] = run([1001], DEAD)
    assert advance(state, LinePosition.CLEAR, 0, START) is state
    assert state.actions_at(START + 5 * MINUTE)
    assert not state.actions_at(START + 6 * MINUTE)


def test_a_person_decides_for_a_time_and_the_judgement_goes_on_beneath():
    [state] = run([1001], DEAD)
    until = START + 30 * MINUTE

    def overridden(*, closed):
        override = MeasureOverride(not closed, until, "alice", "a planned load test")
        return MeasureState(name=DEAD, judged_until=state.judged_until, level=state.level, override=override)

    assert not overridden(closed=True).actions_at(START + MINUTE)
    assert overridden(closed=False).actions_at(START + 29 * MINUTE) == {MeasureAction.CORE_ONLY}
    assert not overridden(closed=False).actions_at(until)
    after = advance(overridden(closed=True), LinePosition.OVER, 2000, START + MINUTE)
    assert (after.level, after.override is not None) == (1, True)


def test_a_tenant_that_lets_its_own_jobs_die_is_the_only_one_concerned():
    good = MeasureSignal(succeeded=5000, died=2, died_in_minute=0)
    bad = MeasureSignal(succeeded=0, died=9000, died_in_minute=5000)
    for name in (RATE, DEAD):
        found = judge_scopes(name, {ALICE: good, BOB: bad}, DEFAULT_LINES, lines_of)
        assert found[BOB].reading is LinePosition.OVER
        assert found[PLATFORM_SCOPE].reading is LinePosition.CLEAR
        assert ALICE not in found


def test_a_tenant_just_below_its_own_line_is_still_the_cause_if_the_others_are_fine_without_it():
    signals = {BOB: MeasureSignal(died_in_minute=990)}
    signals |= {UUID(int=place): MeasureSignal(died_in_minute=2) for place in range(10, 30)}
    found = judge_scopes(DEAD, signals, DEFAULT_LINES, lines_of)
    assert {tenant for tenant, one in found.items() if one.reading is LinePosition.OVER} == {BOB}


def test_a_trouble_of_many_tenants_concerns_the_platform():
    signals = {UUID(int=place): MeasureSignal(died_in_minute=100) for place in range(10, 30)}
    found = judge_scopes(DEAD, signals, DEFAULT_LINES, lines_of)
    assert found == {PLATFORM_SCOPE: (LinePosition.OVER, 2000)}


def test_a_rate_is_judged_on_200_runs_and_a_percentile_on_20_fires():
    def platform(name, signal):
        return judge_scopes(name, {PLATFORM_SCOPE: signal}, DEFAULT_LINES, lines_of)[PLATFORM_SCOPE]

    assert platform(RATE, MeasureSignal(succeeded=100, died=99)).value is None
    assert platform(RATE, MeasureSignal(succeeded=100, died=100)) == (LinePosition.OVER, 0.5)
    late = [0] * BUCKETS
    late[bucket_of(4000)] = 19
    assert platform(DELAY, MeasureSignal(delays=late)).value is None
    late[bucket_of(4000)] = 20
    assert platform(DELAY, MeasureSignal(delays=late)).reading is LinePosition.OVER


def test_a_tenant_has_lines_of_its_own():
    strict = MeasureLines(dlq_growth_per_min=10)
    signals = {ALICE: MeasureSignal(died_in_minute=11), BOB: MeasureSignal(died_in_minute=11)}
    found = judge_scopes(DEAD, signals, DEFAULT_LINES, lambda tenant: strict if tenant == BOB else DEFAULT_LINES)
    assert {tenant for tenant, one in found.items() if one.reading is LinePosition.OVER} == {BOB}
    with pytest.raises(Invalid):
        MeasureLines(run_success_rate_10m=1.5)
    with pytest.raises(Invalid):
        MeasureLines(retry_backlog=0)


def test_what_is_in_force_says_what_is_withheld_and_by_which_measure():
    now = START + MINUTE
    [dead] = run([1001], DEAD)
    everyone = in_force([dead], now)
    assert [everyone.withholds(ALICE, priority) for priority in Priority] == [False, True, True]
    assert everyone.cause_of(ALICE, MeasureAction.CORE_ONLY) is dead
    of_bob = MeasureState(name=DEAD, tenant_id=BOB, level=1, judged_until=now)
    only_bob = in_force([of_bob], now)
    assert not only_bob.withholds(ALICE, Priority.LOW)
    assert only_bob.withholds(BOB, Priority.LOW)
    assert only_bob.cause_of(ALICE, MeasureAction.CORE_ONLY) is None
    assert only_bob.cause_of(BOB, MeasureAction.CORE_ONLY) is of_bob
    assert not only_bob.same_actions(everyone)
