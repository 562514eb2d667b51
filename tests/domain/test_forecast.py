"""The forecast counts what the plan says, and finds what a window would move."""

import random
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from time import process_time

import pytest

from horae.domain.cron import Dialect
from horae.domain.errors import Invalid, InvalidSchedule
from horae.domain.forecast import forecast
from horae.domain.schedules import FireVerdict, Override, Policies, Schedule, Spread, fires
from horae.domain.schedules.calendars import CalendarMode, CalendarUse, calendar_of_days
from horae.domain.schedules.triggers import IntervalTrigger, OnceTrigger, cron
from tests.domain.cron import generate

NOW = datetime(2026, 3, 7, 12, tzinfo=UTC)
CHANGES = {
    "UTC": NOW,
    "America/New_York": datetime(2026, 3, 8, tzinfo=UTC),
    "Europe/Berlin": datetime(2026, 10, 25, tzinfo=UTC),
}
FREE = calendar_of_days("free", date(2026, 1, 1), date(2026, 12, 31), [date(2026, 3, 8), date(2026, 10, 25)])


def a_job(trigger, number=0, **policies):
    return Schedule(trigger=trigger, key=f"acme/job-{number}", policies=Policies(**policies), calendars={"free": FREE})


def a_random_job(chance, number, near):
    place = chance.choice(list(CHANGES))
    kind = chance.randrange(8)
    if kind == 0:
        trigger = IntervalTrigger(
            chance.choice([1.5, 7.0, 60.0, 3600.0]), near - timedelta(days=2, seconds=chance.randrange(999))
        )
    elif kind == 1:
        trigger = OnceTrigger(near + timedelta(seconds=chance.randrange(86_400)))
    else:
        dialect = chance.choice(list(Dialect))
        text = generate.expression(chance, dialect, near + timedelta(hours=chance.randrange(24)))
        trigger = cron(text, dialect=dialect, zone_name=place)
    policies = {}
    if chance.random() < 0.2:
        policies["spread"] = chance.choice([Spread(900), Spread(0, 0.9)])
    if chance.random() < 0.2:
        policies["calendars"] = (CalendarUse("free", CalendarMode.EXCLUDE),)
    if chance.random() < 0.1:
        policies |= {"start": near + timedelta(hours=5), "end": near + timedelta(hours=15)}
    if chance.random() < 0.1:
        policies["max_count"] = 3
    return a_job(trigger, number, **policies)


@pytest.mark.parametrize("seed", range(12))
def test_the_forecast_counts_what_the_plan_says(seed):
    chance = random.Random(seed)
    since = chance.choice(list(CHANGES.values())) - timedelta(hours=chance.randrange(3), seconds=chance.randrange(90))
    until = since + timedelta(hours=30)
    jobs = []
    while len(jobs) < 40:
        try:
            job = a_random_job(chance, len(jobs) % 7, since)
        except InvalidSchedule:
            continue
        if len(list(islice(fires(job, since, until), 2_000))) < 2_000:
            jobs.append(job)
    made = forecast(jobs, since, until)
    counts = [0] * len(made.per_second)
    for job in jobs:
        slack = timedelta(days=1, seconds=900 if job.policies.spread.window else 0)
        if job.policies.max_count is not None:
            slack = timedelta(seconds=job.policies.spread.window + job.policies.spread.jitter, days=1)
        for verdict in fires(job, since - slack, until + slack):
            if isinstance(verdict, FireVerdict) and made.since <= verdict.due_at < until:
                counts[(verdict.due_at - made.since) // timedelta(seconds=1)] += 1
    assert list(made.per_second) == counts


def test_the_worst_seconds_and_who_fires_in_them():
    jobs = [a_job(cron("0 * * * *"), k) for k in range(50)] + [a_job(cron("*/5 * * * *"), k) for k in range(50, 60)]
    made = forecast(jobs, NOW, NOW + timedelta(hours=3))
    assert made.total == 50 * 3 + 10 * 36
    assert made.worst(3) == [(NOW, 60), (NOW + timedelta(hours=1), 60), (NOW + timedelta(hours=2), 60)]
    assert made.per_minute[:6] == [60, 0, 0, 0, 0, 10]
    assert len(made.at(NOW)) == 60
    assert len(made.at(NOW + timedelta(minutes=5))) == 10


def test_a_moved_occurrence_is_forecast_where_it_was_moved_to():
    trigger = cron("0 * * * *")
    job = Schedule(trigger=trigger, key="a", overrides=(Override(NOW, NOW + timedelta(minutes=10)),))
    made = forecast([job], NOW, NOW + timedelta(hours=1))
    assert made.worst(2) == [(NOW + timedelta(minutes=10), 1)]


def test_a_forecast_has_a_longest_reach():
    with pytest.raises(Invalid, match="at most 14 days"):
        forecast([], NOW, NOW + timedelta(days=15))


def a_fleet(size, hashed):
    """A tenth every minute, four tenths every five, three tenths hourly, two tenths daily."""
    plain = ["* * * * *", *["*/5 * * * *"] * 4, *["0 * * * *"] * 3, *["30 3 * * *"] * 2]
    spread = ["H * * * * *", *["H H/5 * * * *"] * 4, *["H H * * * *"] * 3, *["H H H * * *"] * 2]
    texts, places = spread if hashed else plain, ["America/New_York", "Europe/Berlin", "Asia/Shanghai", "UTC"]
    for k in range(size):
        trigger = cron(texts[k % 10], zone_name=places[k // 10 % 4], salt=f"acme/job-{k}")
        yield a_job(trigger, k)


@pytest.mark.long
@pytest.mark.timeout(0)
@pytest.mark.parametrize("hashed", [False, True])
def test_a_day_of_a_hundred_thousand_jobs_is_forecast_within_a_minute(hashed):
    fleet = list(a_fleet(100_000, hashed))
    since = datetime(2026, 6, 1, tzinfo=UTC)
    begin = process_time()
    made = forecast(fleet, since, since + timedelta(days=1))
    took = process_time() - begin
    assert made.total == 100 * (10 * 14_400 + 40 * 2_880 + 30 * 240 + 20 * 10)
    assert took < 60


def test_a_forecast_for_bounded_work_leaves_out_the_schedules_that_fire_most():
    calm = [a_job(cron("0 * * * *"), k) for k in range(20)]
    busy = [a_job(IntervalTrigger(1.001 + k / 1000, NOW), 100 + k) for k in range(5)]
    made = forecast([*busy, *calm], NOW, NOW + timedelta(hours=3), most=10_000)
    assert made.left_out == 5
    assert made.total == 60
    assert forecast([*busy, *calm], NOW, NOW + timedelta(hours=3)).left_out == 0


@pytest.mark.parametrize("every", [1.001, 1.5, 2.0, 61.7])
@pytest.mark.parametrize(
    "policies", [{}, {"spread": Spread(900)}, {"calendars": (CalendarUse("free", CalendarMode.EXCLUDE),)}]
)
def test_intervals_are_counted_by_arithmetic_as_the_plan_has_them(every, policies):
    job = a_job(IntervalTrigger(every, NOW - timedelta(hours=3, microseconds=123)), **policies)
    since, until = NOW + timedelta(hours=11), NOW + timedelta(hours=13)
    made = forecast([job], since, until)
    counts = [0] * len(made.per_second)
    for verdict in fires(job, since - timedelta(minutes=20), until):
        if isinstance(verdict, FireVerdict) and since <= verdict.due_at < until:
            counts[(verdict.due_at - since) // timedelta(seconds=1)] += 1
    assert list(made.per_second) == counts


def test_who_is_behind_a_second_is_known_for_walked_schedules_too():
    walked = a_job(cron("*/10 * * * * *"), 1, spread=Spread(0, 5.0))
    made = forecast([walked], NOW, NOW + timedelta(hours=1))
    assert all(made.at(at) == [walked] for at, _ in made.worst(5))
