"""A proposal to spread jobs never raises the peak, keeps every fire, and delays none by more than it may."""

import random
from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from horae.domain.cron import Dialect
from horae.domain.errors import Invalid, InvalidSchedule
from horae.domain.forecast import SpreadCandidate, StayReason, change_steps, forecast, spread_proposal
from horae.domain.forecast.spreading import with_window
from horae.domain.schedules import FireVerdict, Override, Policies, Schedule, Spread, fires
from horae.domain.schedules.expected import shortest_gap
from horae.domain.schedules.triggers import IntervalTrigger, cron
from horae.domain.steps import finish

NOW = datetime(2026, 3, 7, 12, tzinfo=UTC)
DAY = NOW + timedelta(days=1)
SECOND = timedelta(seconds=1)


def a_job(number, trigger, *, late_after=None, overrides=(), **policies):
    made = Schedule(trigger=trigger, key=f"acme/{number}", policies=Policies(**policies), overrides=overrides)
    return SpreadCandidate(f"job-{number:03}", made, late_after)


def schedules(jobs):
    return [one.schedule for one in jobs]


def applied(jobs, proposal):
    windows = {move.name: move.window for move in proposal.moves}
    return [with_window(one.schedule, windows[one.name]) if one.name in windows else one.schedule for one in jobs]


def a_random_job(chance, number):
    texts = ["0 * * * *", "*/5 * * * *", "* * * * *", "30 3 * * *", "0 9-17 * * 1-5", "15,45 * * * *", "0 0 1 * *"]
    places = ["UTC", "America/New_York", "Asia/Kolkata"]
    trigger = cron(chance.choice(texts), zone_name=chance.choice(places))
    if chance.random() < 0.2:
        trigger = IntervalTrigger(chance.choice([30.0, 61.0, 90.5, 3600.0]), NOW - timedelta(days=2))
    elif chance.random() < 0.2:
        trigger = cron(f"{chance.randrange(60)} */7 * * * *", dialect=Dialect.SPRING6)
    policies = {}
    if chance.random() < 0.15:
        policies["spread"] = chance.choice([Spread(300), Spread(0, 5), Spread(exact=True)])
    if chance.random() < 0.1:
        policies["max_count"] = chance.choice([3, 50])
    return a_job(number, trigger, late_after=chance.choice([None, None, 10, 600]), **policies)


@pytest.mark.parametrize("seed", range(12))
def test_an_applied_proposal_never_raises_the_peak_and_keeps_every_fire_in_its_window(seed):
    chance = random.Random(seed)
    jobs = [a_random_job(chance, number) for number in range(chance.randrange(5, 60))]
    made = forecast(schedules(jobs), NOW, DAY)
    within = chance.choice([5, 60, 300, 900])
    chosen = chance.sample(jobs, chance.randrange(1, len(jobs) + 1))
    proposal = spread_proposal(made, chosen, within)
    changed = applied(jobs, proposal)
    after = forecast(changed, NOW, DAY)
    assert proposal.before == made.worst(1)[0]
    assert proposal.after == after.worst(1)[0]
    assert proposal.after.fires <= proposal.before.fires
    if proposal.own_before is not None:
        assert proposal.own_after.fires <= proposal.own_before.fires
    by_name = {one.name: (one, new) for one, new in zip(jobs, changed, strict=True)}
    for move in proposal.moves:
        job, new = by_name[move.name]
        old = [one for one in fires(job.schedule, NOW, DAY) if isinstance(one, FireVerdict)]
        moved = [one for one in fires(new, NOW, DAY) if isinstance(one, FireVerdict)]
        assert [one.fire_time for one in moved] == [one.fire_time for one in old]
        room = min(within, shortest_gap(job.schedule.trigger).total_seconds(), (job.late_after or 7200) // 2)
        assert move.window <= room
        for one in moved:
            assert timedelta(seconds=move.later_s) <= one.due_at - one.fire_time < timedelta(seconds=move.window)
    assert {move.name for move in proposal.moves} | {name for name, _ in proposal.stays} == {one.name for one in chosen}
    assert spread_proposal(made, reversed(chosen), within) == proposal


def test_a_herd_of_hourly_jobs_is_spread_over_the_minutes_that_they_may_be_late():
    herd = [a_job(number, cron("0 * * * *")) for number in range(300)]
    calm = [a_job(number, cron("7 * * * *")) for number in range(300, 310)]
    proposal = spread_proposal(forecast(schedules(herd + calm), NOW, DAY), herd, 300)
    assert proposal.before == (NOW, 300)
    assert proposal.after.fires <= 10
    assert len(proposal.moves) > 280
    assert {reason for _, reason in proposal.stays} <= {StayReason.NO_GAIN}


def test_jobs_that_must_not_be_moved_stay_and_the_reason_is_said():
    hourly = cron("0 * * * *")
    jobs = [
        a_job(1, hourly, spread=Spread(exact=True)),
        a_job(2, hourly, spread=Spread(60)),
        a_job(3, hourly, overrides=(Override(NOW),)),
        a_job(4, IntervalTrigger(3600.5, NOW)),
        a_job(5, hourly, late_after=2),
        a_job(10, hourly, max_count=100),
        a_job(6, cron("* * * * * *", dialect=Dialect.SPRING6)),
    ]
    alone = a_job(7, cron("30 6 * * *"))
    made = forecast([*schedules(jobs), alone.schedule], NOW, DAY)
    stranger = a_job(9, hourly)
    assert dict(spread_proposal(made, [*jobs, alone, stranger], 300).stays) == {
        "job-001": StayReason.EXACT,
        "job-002": StayReason.ALREADY_SPREAD,
        "job-003": StayReason.OCCURRENCES,
        "job-004": StayReason.FRACTIONS,
        "job-005": StayReason.NO_ROOM,
        "job-006": StayReason.NO_ROOM,
        "job-007": StayReason.NO_GAIN,
        "job-009": StayReason.NOT_COUNTED,
        "job-010": StayReason.MAX_COUNT,
    }


def test_a_proposal_has_bounds():
    made = forecast([], NOW, DAY)
    assert spread_proposal(made, [], 300).before is None
    for within in (0, 3601):
        with pytest.raises(Invalid, match="1 to 3600"):
            spread_proposal(made, [], within)
    with pytest.raises(InvalidSchedule, match="exact second"):
        Spread(60, exact=True)


def test_the_effect_of_a_new_job_is_the_difference_of_two_forecasts():
    others = schedules(a_job(number, cron("*/5 * * * *")) for number in range(20))
    new, old = a_job(30, cron("0 * * * *")).schedule, a_job(30, cron("*/5 * * * *")).schedule
    made = finish(change_steps(forecast(others, NOW, DAY), old, new))
    assert made.before == forecast([*others, old], NOW, DAY).worst(1)[0] == (NOW, 21)
    assert made.after == forecast([*others, new], NOW, DAY).worst(1)[0] == (NOW, 21)
    assert (made.fires_before, made.fires_after, made.own) == (288, 24, (NOW, 21))
    alone = replace(new, trigger=cron("7 * * * *"))
    found = finish(change_steps(forecast(others, NOW, DAY), None, alone))
    assert (found.before.fires, found.after.fires, found.own) == (20, 20, (NOW + timedelta(minutes=7), 1))
