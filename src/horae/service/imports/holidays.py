"""Calendars from the `holidays` package (the extra `calendars`), for years that somebody has published.

The package answers for every year: where a government has not announced its holidays yet, or a moon has not been seen,
it projects them in silence. We refuse such years, because a calendar that guesses is worse than one that ends.
"""

from collections.abc import Collection
from datetime import date
from typing import Any

import holidays

from horae.domain.calendars import Calendar, listed, workdays
from horae.domain.errors import InvalidSchedule

LOOK_BACK = 5


def read(
    name: str, country: str, years: Collection[int], *, subdivision: str | None = None
) -> tuple[Calendar, Calendar]:
    """The country's workdays, make-up days included, and its holidays; refused for years nobody has published."""
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
    return workdays(f"{name}-workdays", first, last, free, makeup), listed(f"{name}-holidays", first, last, free)


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
    """Whether each year's days off are moved around by an announcement, as in China."""
    recent = sorted(announced)[-LOOK_BACK:]
    moved = [year for year in recent if any(len(day) >= 4 for day in _entries(announced[year]))]
    return len(moved) >= LOOK_BACK - 1


def _entries(given: object) -> list[tuple[object, ...]]:
    """One special day or several: the package writes a single one without a tuple around it."""
    entries = given if isinstance(given, tuple) else ()
    if entries and not isinstance(entries[0], tuple):
        return [entries]
    return list(entries)


def _is_estimated(found: Any, label: str) -> bool:
    """Whether the package marks a day as estimated, in whichever language it speaks."""
    marks = [getattr(found, kind, None) for kind in ("estimated_label", "observed_estimated_label")]
    said = [str(found.tr(mark)).replace("%s", "").strip(" ()（）") for mark in marks if mark]
    return any(mark and mark in label for mark in said)
