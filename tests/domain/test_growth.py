"""How a cell grows, and what the doctor says about it."""

from datetime import UTC, date, datetime, timedelta

from horae.domain.health.doctor import Severity, examine_growth
from horae.domain.health.growth import GIB, DaysHeldBack, DaySize, Growth, TableSize, gigabytes, over_term

NOW = datetime(2030, 3, 20, 12, tzinfo=UTC)


def days(sizes):
    """The last of them is today."""
    first = NOW.date() - timedelta(days=len(sizes) - 1)
    return tuple(DaySize(first + timedelta(days=n), size) for n, size in enumerate(sizes))


def grown(sizes=(4 * GIB, 2 * GIB, 1 * GIB), *, now_gib=10, disk_gib=None, **facts):
    disk = None if disk_gib is None else disk_gib * GIB
    given = {"kept_days": 14, "days_ahead": 8, "tables": ()} | facts
    return Growth(measured_at=NOW, database_bytes=now_gib * GIB, disk_bytes=disk, days=days(sizes), **given)


def said(growth, name):
    return next(one for one in examine_growth(growth) if one.name == name)


def test_the_rate_is_the_mean_of_the_last_full_days():
    assert grown().bytes_per_day == 3 * GIB, "today is not over"
    assert grown((9 * GIB, *[2 * GIB] * 7, GIB)).bytes_per_day == 2 * GIB, "of seven days"
    assert grown((0, 0, 2 * GIB, 0)).bytes_per_day == 2 * GIB, "days from before the first fire do not count"
    assert grown((GIB,)).bytes_per_day is None


def test_days_that_are_dropped_make_room():
    full = grown([GIB] * 15, now_gib=15, kept_days=14)
    assert [full.bytes_after(n) // GIB for n in (0, 1, 14, 100)] == [15, 15, 15, 15]
    young = grown([GIB] * 3, now_gib=3, kept_days=14)
    assert [young.bytes_after(n) // GIB for n in (0, 1, 12, 13, 14, 100)] == [3, 4, 15, 15, 15, 15]


def test_a_disk_that_holds_all_kept_days_is_never_full():
    assert grown([GIB] * 3, now_gib=3, disk_gib=16).days_until_full is None
    assert grown([GIB] * 3, now_gib=3, disk_gib=10).days_until_full == 8
    assert grown([GIB] * 3, now_gib=3).days_until_full is None
    assert grown([GIB] * 3, now_gib=30, disk_gib=16).days_until_full == 0


def test_while_a_day_is_held_back_nothing_makes_room():
    held = DaysHeldBack(2, date(2030, 3, 4), ("orders",))
    assert grown([GIB] * 17, now_gib=17, disk_gib=30, held=held).days_until_full == 14
    one = said(grown([GIB] * 17, held=held), "days held back")
    assert (one.level, one.found) == (Severity.HINT, "2 since 2030-03-04: orders")


def test_a_disk_that_is_full_within_a_week_is_a_fault_and_within_a_month_a_hint():
    levels = {
        disk: said(grown([GIB] * 3, now_gib=3, disk_gib=disk, kept_days=90), "disk").level for disk in (8, 25, 60)
    }
    assert levels == {8: Severity.FAULT, 25: Severity.HINT, 60: Severity.OK}
    unknown = said(grown(), "disk")
    assert (unknown.level, unknown.found) == (Severity.HINT, "unknown")
    assert "HORAE_DISK_BYTES" in unknown.advice


def test_what_was_never_measured_is_said():
    [one] = examine_growth(None)
    assert (one.level, one.name, one.found) == (Severity.HINT, "growth", "unknown")


def test_more_dead_rows_than_live_ones_are_a_hint_where_they_are_many():
    few, many = TableSize("task_key", 9, 10, 90_000), TableSize("instance_live", 9, 1_000, 200_000)
    assert said(grown(tables=(few,)), "dead rows").level is Severity.OK
    one = said(grown(tables=(few, many)), "dead rows")
    assert (one.level, one.found) == (Severity.HINT, "instance_live 200,000 beside 1,000 live")


def test_a_day_is_over_its_term_when_it_ended_so_many_days_ago():
    assert over_term(date(2030, 3, 5), NOW, 14)
    assert not over_term(date(2030, 3, 6), NOW, 14)
    assert over_term(date(2030, 3, 6), NOW + timedelta(hours=12), 14)


def test_sizes_are_readable():
    assert [gigabytes(size) for size in (512, 3 * 2**20, 1.5 * GIB, 561 * GIB, 8 * 2**40)] == [
        "0 KiB", "3 MiB", "1.5 GiB", "561 GiB", "8 TiB",
    ]  # fmt: skip
