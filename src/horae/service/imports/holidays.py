"""Calendars from the `holidays` package (the extra `calendars`), only for published years.

The package answers for every year. Where a government has not announced its holidays, or they depend on the moon, it
silently estimates them. Such years are refused, because a calendar that guesses is worse than one that ends.
"""

from collections.abc import Collection
from datetime import date
from typing import Any

import holidays

from horae.domain.errors import InvalidSchedule
from horae.domain.schedules.calendars import Calendar, calendar_of_days, workdays

LOOK_BACK = 5
"""Recent years that decide whether a country announces its days off every year."""


def read(
    name: str, country: str, years: Collection[int], *, subdivision: str | None = None
) -> tuple[Calendar, Calendar]:
    """Returns the country's workdays (make-up days included) and its holidays. Refused for unpublished years."""
    wanted = sorted(set(years))
    if not wanted or wanted != list(range(wanted[0], wanted[-1] + 1)):
        raise InvalidSchedule("a calendar needs one or more years in a row")
    try:
        found: Any = holidays.country_holidays(country, subdiv=subdivision, years=wanted)
    except NotImplementedError as error:
        raise InvalidSchedule(str(error)) from None
    for year in wanted:
        _must_be_published(found, country, year)
    first, last = date(wanted[0], 1, 1), date(wanted[-1], 12, 31)
    free = [day for day in found if first <= day <= last]
    makeup = [day for day in found.weekend_workdays if first <= day <= last]
    return workdays(f"{name}-workdays", first, last, free, makeup), calendar_of_days(
        f"{name}-holidays", first, last, free
    )


def _must_be_published(found: Any, country: str, year: int) -> None:
    announced: dict[int, object] = getattr(found, "special_public_holidays", {}) or {}
    if _is_announced_yearly(announced) and year not in announced:
        raise InvalidSchedule(f"the holidays of {country} for {year} are not published yet (known to {max(announced)})")
    guessed = [
        f"{found[day]} on {day}" for day in sorted(found) if day.year == year and _is_estimated(found, found[day])
    ]
    if guessed:
        raise InvalidSchedule(f"the holidays of {country} for {year} are not certain yet: {guessed[0]}")


def _is_announced_yearly(announced: dict[int, object]) -> bool:
    """Whether the country moves days off by a yearly announcement, as China does."""
    recent = sorted(announced)[-LOOK_BACK:]
    moved = [year for year in recent if any(len(day) >= 4 for day in _entries(announced[year]))]
    return len(moved) >= LOOK_BACK - 1


def _entries(given: object) -> list[tuple[object, ...]]:
    """Returns the special days of a year. The package writes a single one without a tuple around it."""
    entries = given if isinstance(given, tuple) else ()
    if entries and not isinstance(entries[0], tuple):
        return [entries]
    return list(entries)


def _is_estimated(found: Any, label: str) -> bool:
    """Whether the package marks a day as estimated, in any of its languages."""
    marks = [getattr(found, kind, None) for kind in ("estimated_label", "observed_estimated_label")]
    said = [str(found.tr(mark)).replace("%s", "").strip(" ()（）") for mark in marks if mark]
    return any(mark and mark in label for mark in said)
