"""What each dialect accepts, refuses and means."""

from datetime import UTC, datetime

import pytest

from horae.domain.cron import Dialect, parse
from horae.domain.errors import InvalidSchedule
from horae.domain.zones.zones import zone

UTC_ZONE = zone("UTC")
START = datetime(2026, 1, 1, tzinfo=UTC)


def days(text, dialect=None, count=3, start=START):
    cron, found = parse(text, dialect), []
    for _ in range(count):
        start = cron.next(start, UTC_ZONE)
        found.append(start.date().isoformat())
    return found


@pytest.mark.parametrize("dialect", [Dialect.SPRING6, Dialect.QUARTZ6])
def test_the_every_five_minutes_of_the_java_console_works_as_written(dialect):
    cron = parse("0 */5 * * * ?", dialect)
    fires = list(cron.fires(START, datetime(2026, 1, 1, 0, 15, tzinfo=UTC), UTC_ZONE))
    assert [fire.minute for fire in fires] == [0, 5, 10]


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("0 0 * * *", Dialect.UNIX5),
        ("0 0 0 * * *", Dialect.SPRING6),
        ("0 0 0 * * ? *", Dialect.QUARTZ7),
        ("@daily", Dialect.UNIX5),
    ],
)
def test_without_a_dialect_the_number_of_fields_decides(text, dialect):
    assert parse(text).dialect is dialect


def test_the_sixth_day_is_saturday_for_unix_and_friday_for_quartz():
    assert days("0 0 * * 6#3") == ["2026-01-17", "2026-02-21", "2026-03-21"]
    assert days("0 0 0 ? * 6#3", Dialect.QUARTZ6) == ["2026-01-16", "2026-02-20", "2026-03-20"]


def test_two_day_fields_mean_either_in_unix_and_both_in_spring():
    assert days("0 0 13 * FRI") == ["2026-01-02", "2026-01-09", "2026-01-13"]
    assert days("0 0 0 13 * FRI") == ["2026-02-13", "2026-03-13", "2026-11-13"]


def test_a_starred_day_field_in_unix_means_both():
    assert days("0 0 */2 * MON") == ["2026-01-05", "2026-01-19", "2026-02-09"]


def test_every_second_weekday_counts_from_sunday_in_unix_and_from_monday_in_spring():
    assert days("0 0 * * */2", count=4) == ["2026-01-03", "2026-01-04", "2026-01-06", "2026-01-08"]
    assert days("0 0 0 * * */2", count=4) == ["2026-01-02", "2026-01-04", "2026-01-05", "2026-01-07"]


@pytest.mark.parametrize(
    ("day", "expected"),
    [
        ("L", ["2026-01-31", "2026-02-28", "2026-03-31"]),
        ("L-3", ["2026-01-28", "2026-02-25", "2026-03-28"]),
        ("LW", ["2026-01-30", "2026-02-27", "2026-03-31"]),
        ("15W", ["2026-01-15", "2026-02-16", "2026-03-16"]),
        ("1W", ["2026-02-02", "2026-03-02", "2026-04-01"]),
        ("31W", ["2026-01-30", "2026-03-31", "2026-05-29"]),
        ("L-1W", ["2026-01-30", "2026-02-27", "2026-03-30"]),
    ],
)
def test_days_counted_from_the_end_and_nearest_workdays(day, expected):
    assert days(f"0 0 0 {day} * ?", Dialect.QUARTZ6) == expected
    assert days(f"0 0 0 {day} * ?", Dialect.SPRING6) == expected


def test_the_last_friday_of_the_month():
    assert days("0 0 * * 5L") == days("0 0 0 ? * 6L", Dialect.QUARTZ6) == days("0 0 0 * * FRIL")
    assert days("0 0 * * 5L") == ["2026-01-30", "2026-02-27", "2026-03-27"]


def test_quartz_ranges_may_run_over_the_end():
    assert days("0 0 0 ? * FRI-MON", Dialect.QUARTZ6, 4) == [
        "2026-01-02",
        "2026-01-03",
        "2026-01-04",
        "2026-01-05",
    ]


def test_a_hashed_minute_spreads_jobs_and_stays_for_each():
    minutes = {parse("H * * * *", salt=f"acme/job-{k}").fields.minute.mask for k in range(500)}
    assert len(minutes) > 55
    assert parse("H H * * *", salt="acme/a") == parse("H H * * *", salt="acme/a")


def test_a_hashed_step_keeps_its_rhythm():
    fires = parse("H/15 * * * *", salt="acme/a").fields.minute.mask
    first = (fires & -fires).bit_length() - 1
    assert first < 15
    assert fires == sum(1 << (first + 15 * k) for k in range(4))


@pytest.mark.parametrize(
    ("text", "dialect", "why"),
    [
        ("0 0 30 2 *", None, "never fires"),
        ("0 0 31 4,6,9,11 *", None, "never fires"),
        ("0 0 0 29 2 ? 2023", None, "never fires"),
        ("0 0 0 L-30 2 ?", Dialect.QUARTZ6, "never fires"),
        ("60 0 * * *", None, "minute 60 does not exist"),
        ("0 0 0 * * 8", Dialect.SPRING6, "day of week 8"),
        ("0 0 0 ? * 0", Dialect.QUARTZ6, "day of week 0"),
        ("*/0 * * * *", None, "step of 0"),
        ("*/90 * * * *", None, "interval"),
        ("5-1 * * * *", None, "backwards"),
        ("0 0 0 * * *", Dialect.QUARTZ6, "exactly one of"),
        ("0 0 0 1 * 1", Dialect.QUARTZ6, "exactly one of"),
        ("0 0 0 ? * ?", Dialect.QUARTZ6, "exactly one of"),
        ("0 0 ? * *", None, "belongs to Quartz"),
        ("0 0 * *", None, "4 fields"),
        ("0 0 0 * * ?", Dialect.UNIX5, "6 fields, unix5 has 5"),
        ("", None, "empty"),
        ("@reboot", None, "never stops"),
        ("@every 5m", None, "interval trigger"),
        ("@noon", None, "not one of"),
        ("٣ * * * *", None, "means nothing"),
        ("0 0 * * L", None, "needs a day before it"),
        ("0 0 * * MON#6", None, "first to a fifth"),
        ("0 0 * * 1#1x", None, "means nothing"),
        ("1" * 600, None, "at most 512"),
    ],
)
def test_what_means_nothing_is_refused_with_the_reason(text, dialect, why):
    with pytest.raises(InvalidSchedule, match=why):
        parse(text, dialect)


@pytest.mark.parametrize("dialect", list(Dialect))
@pytest.mark.parametrize("macro", ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"])
def test_a_macro_means_the_same_in_every_dialect(macro, dialect):
    assert parse(macro, dialect).next(START, UTC_ZONE) == parse(macro).next(START, UTC_ZONE)


def test_a_year_that_has_passed_has_no_next_fire():
    assert parse("0 0 0 1 1 ? 2025").next(START, UTC_ZONE) is None
