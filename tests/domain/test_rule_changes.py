"""A new release of the time zone rules, judged before it is installed."""

from datetime import UTC, datetime, timedelta
from importlib import resources

from horae.domain.schedules.triggers import cron
from horae.domain.zones import zones
from horae.domain.zones.rule_changes import changed_zones, changes

NOW = datetime(2026, 1, 1, tzinfo=UTC)
YEAR = NOW + timedelta(days=365)


def of(name, source):
    """The zone `name` as a release would have it that gave it the rules of another one."""
    return zones.read(name, resources.files("tzdata").joinpath("zoneinfo", *source.split("/")).read_bytes())


OLD = {"Europe/Berlin": zones.zone("Europe/Berlin"), "Asia/Tokyo": zones.zone("Asia/Tokyo")}
NEW = {"Europe/Berlin": of("Europe/Berlin", "Etc/GMT-1"), "Asia/Tokyo": of("Asia/Tokyo", "Asia/Tokyo")}


def test_the_zones_that_differ_are_named_with_the_time_of_it():
    found = changed_zones(OLD, NEW, NOW, YEAR)
    assert list(found) == ["Europe/Berlin"]
    ((since, until),) = found["Europe/Berlin"]
    assert since.month == 3
    assert until.month == 10


def test_only_jobs_whose_fires_move_are_listed_with_what_they_lose_and_gain():
    jobs = [
        ("summer", cron("0 12 * * *", zone_name="Europe/Berlin")),
        ("winter", cron("0 12 * 1 *", zone_name="Europe/Berlin")),
        ("often", cron("*/10 * * * *", zone_name="Europe/Berlin")),
        ("elsewhere", cron("0 12 * * *", zone_name="Asia/Tokyo")),
    ]
    (change,) = changes(jobs, OLD, NEW, NOW, YEAR)
    assert change.key == "summer"
    assert change.gone[0] == datetime(2026, 3, 29, 10, tzinfo=UTC)
    assert change.new[0] == datetime(2026, 3, 29, 11, tzinfo=UTC)


def test_equal_rules_change_nothing():
    assert changed_zones(OLD, OLD, NOW, YEAR) == {}
