"""Calendars answer for what is published, and say so for the rest."""

from datetime import date

import pytest

from horae.domain.errors import InvalidSchedule
from horae.domain.schedules.calendars import (
    Calendar,
    CalendarMode,
    CalendarUse,
    allows,
    calendar_of_days,
    check,
    ends_within,
    workdays,
)

YEAR = (date(2026, 1, 1), date(2026, 12, 31))
OFFICE = workdays("office", *YEAR, holidays=[date(2026, 10, 1), date(2026, 10, 3)], makeup=[date(2026, 10, 10)])
HOLIDAYS = calendar_of_days("holidays", *YEAR, [date(2026, 10, 1)])


@pytest.mark.parametrize(
    ("day", "works"),
    [
        (date(2026, 9, 30), True),
        (date(2026, 10, 1), False),
        (date(2026, 10, 4), False),
        (date(2026, 10, 10), True),
        (date(2027, 1, 4), None),
    ],
)
def test_a_workday_calendar_knows_holidays_and_makeup_days_and_its_own_end(day, works):
    assert OFFICE.has(day) is works


def test_rules_must_all_agree():
    known = {"office": OFFICE, "holidays": HOLIDAYS}
    rules = [CalendarUse("office"), CalendarUse("holidays", CalendarMode.EXCLUDE)]
    assert allows(rules, known, date(2026, 9, 30)) is True
    assert allows(rules, known, date(2026, 10, 1)) is False
    assert allows(rules, known, date(2027, 10, 1)) is None
    assert allows([], known, date(2030, 1, 1)) is True


def test_a_day_one_rule_forbids_is_forbidden_even_when_another_cannot_know():
    short = calendar_of_days("short", date(2026, 1, 1), date(2026, 1, 31), [])
    known = {"holidays": HOLIDAYS, "short": short}
    assert (
        allows([CalendarUse("short"), CalendarUse("holidays", CalendarMode.EXCLUDE)], known, date(2026, 10, 1)) is False
    )


def test_a_calendar_that_runs_out_is_noticed():
    assert ends_within(OFFICE, date(2026, 12, 1), 60)
    assert not ends_within(OFFICE, date(2026, 6, 1), 60)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"first": date(2026, 2, 1), "last": date(2026, 1, 1)}, "ends before"),
        ({"first": YEAR[0], "last": YEAR[1], "weekdays": frozenset({0})}, "1 .Monday. to 7"),
        ({"first": YEAR[0], "last": YEAR[1], "added": frozenset({date(2027, 1, 1)})}, "outside"),
        (
            {"first": YEAR[0], "last": YEAR[1], "added": frozenset({YEAR[0]}), "removed": frozenset({YEAR[0]})},
            "adds and removes",
        ),
    ],
)
def test_a_calendar_that_contradicts_itself_is_refused(fields, why):
    with pytest.raises(InvalidSchedule, match=why):
        Calendar(name="odd", **fields)


def test_rules_that_contradict_each_other_are_refused():
    with pytest.raises(InvalidSchedule, match="both included and excluded"):
        check([CalendarUse("office"), CalendarUse("office", CalendarMode.EXCLUDE)], {"office": OFFICE})
    with pytest.raises(InvalidSchedule, match="no calendar"):
        check([CalendarUse("elsewhere")], {"office": OFFICE})
