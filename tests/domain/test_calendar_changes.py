"""A changed calendar opens and closes days: what becomes of the fires of a job."""

from datetime import UTC, date, datetime, timedelta

from msgspec.structs import replace

from horae.domain.schedules import FireVerdict, Policies, Schedule, fires
from horae.domain.schedules.calendar_changes import change_steps
from horae.domain.schedules.calendars import Calendar, CalendarMode, CalendarUse
from horae.domain.schedules.triggers import cron
from horae.domain.steps import finish

NOW = datetime(2030, 1, 1, tzinfo=UTC)
UNTIL = NOW + timedelta(days=30)
DAYS = Calendar(name="days", first=date(2029, 1, 1), last=date(2031, 12, 31), weekdays=frozenset({1, 2, 3, 4, 5}))
HOLIDAY = replace(DAYS, removed=frozenset({date(2030, 1, 2)}), added=frozenset({date(2030, 1, 5)}))


def schedule(calendar, expression="0 9 * * *", mode=CalendarMode.INCLUDE, **policies):
    made = Policies(calendars=(CalendarUse("days", mode),), **policies)
    return Schedule(trigger=cron(expression), key="job", policies=made, calendars={"days": calendar})


def changes(before, after, most=100):
    return finish(change_steps(before, after, NOW, UNTIL, most))


def test_a_closed_day_loses_its_fires_and_an_opened_one_gains_them():
    found = changes(schedule(DAYS), schedule(HOLIDAY))
    assert found.removed == [datetime(2030, 1, 2, 9, tzinfo=UTC)]
    assert found.added == [datetime(2030, 1, 5, 9, tzinfo=UTC)]
    assert found.until == UNTIL


def test_for_a_job_that_excludes_the_calendar_it_is_the_other_way_round():
    excluded = [schedule(one, mode=CalendarMode.EXCLUDE) for one in (DAYS, HOLIDAY)]
    found = changes(*excluded)
    assert (found.added, found.removed) == (
        [datetime(2030, 1, 2, 9, tzinfo=UTC)],
        [datetime(2030, 1, 5, 9, tzinfo=UTC)],
    )


def test_the_next_fire_moves_where_its_day_is_closed():
    closed = replace(DAYS, removed=frozenset({date(2030, 1, 1), date(2030, 1, 2)}))
    found = changes(schedule(DAYS), schedule(closed))
    assert (found.next_before.day, found.next_after.day) == (1, 3)


def test_days_after_the_last_one_are_unknown_and_have_no_fires():
    found = changes(schedule(DAYS), schedule(replace(DAYS, last=date(2030, 1, 28))))
    assert [one.day for one in found.removed] == [29, 30]


def test_an_unchanged_calendar_changes_nothing():
    found = changes(schedule(DAYS), schedule(DAYS))
    assert (found.added, found.removed, found.next_before) == ([], [], found.next_after)


def test_the_list_ends_where_it_is_full_and_says_until_when_it_holds():
    found = changes(schedule(DAYS, "* * * * *"), schedule(HOLIDAY, "* * * * *"), most=10)
    assert len(found.removed) == 10
    assert found.until == datetime(2030, 1, 2, 0, 10, tzinfo=UTC)


def test_only_fires_of_days_that_change_are_computed():
    every_second = [
        schedule(one, "* * * * * *") for one in (DAYS, replace(DAYS, removed=frozenset({date(2030, 1, 30)})))
    ]
    steps, many = change_steps(*every_second, NOW, UNTIL, 5), 0
    for _ in steps:
        many += 1
    assert many < 20


def test_a_bound_on_the_number_of_fires_is_left_out_of_account():
    found = changes(schedule(DAYS, max_count=1), schedule(HOLIDAY, max_count=1))
    assert len(found.added) == len(found.removed) == 1


def test_what_is_listed_is_the_difference_of_both_schedules():
    def running(one):
        return {made.fire_time for made in fires(one, NOW, UNTIL) if isinstance(made, FireVerdict)}

    before, after = (schedule(one, "0 */6 * * *") for one in (DAYS, HOLIDAY))
    found = changes(before, after)
    assert set(found.added) == running(after) - running(before)
    assert set(found.removed) == running(before) - running(after)
