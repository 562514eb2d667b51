from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from horae.domain.health.doctor import SETTINGS, CellFacts, Severity, examine, examine_standbys, unfit
from horae.domain.health.growth import Growth

SOUND = {
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "autovacuum": "on",
    "autovacuum_naptime": "60",
    "default_statistics_target": "100",
    "work_mem": "4096",
    "shared_buffers": "16384",
    "max_wal_size": "1024",
    "wal_compression": "lz4",
    "idle_in_transaction_session_timeout": "10000",
    "hot_standby_feedback": "off",
    "max_slot_wal_keep_size": "65536",
    "synchronous_standby_names": "db2",
}
GROWTH = Growth(datetime(2030, 1, 31, tzinfo=UTC), 14, 8, 2**30, 2**40, (), ())
CELL = CellFacts(150019, SOUND, False, timedelta(), 1000, 0, 8, 0, GROWTH, wal_archive_lag=timedelta(seconds=10))
WRONG = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "autovacuum": "off",
    "autovacuum_naptime": "300",
    "default_statistics_target": "10",
    "work_mem": "64",
    "shared_buffers": "16",
    "max_wal_size": "80",
    "wal_compression": "off",
    "idle_in_transaction_session_timeout": "0",
    "hot_standby_feedback": "on",
    "max_slot_wal_keep_size": "-1",
}


def test_a_sound_cell_has_nothing_to_change():
    assert {finding.level for finding in examine(CELL)} == {Severity.OK}
    assert not any(finding.advice for finding in examine(CELL))


@pytest.mark.parametrize("name", sorted(SETTINGS))
def test_each_setting_is_missed_when_it_is_wrong_and_the_advice_names_it(name):
    [first, *rest] = examine(CELL._replace(settings=SOUND | {name: WRONG[name]}))
    assert (first.name, first.level) == (name, SETTINGS[name].otherwise)
    assert name in first.advice
    assert {finding.level for finding in rest} == {Severity.OK}


@pytest.mark.parametrize(
    ("facts", "level"),
    [
        ({"version": 140000}, Severity.FAULT),
        ({"version": 190000}, Severity.HINT),
        ({"superuser": True}, Severity.HINT),
        ({"oldest_snapshot": timedelta(minutes=2)}, Severity.HINT),
        ({"frozen_age": 600_000_000}, Severity.FAULT),
        ({"multixact_age": 200_000_000}, Severity.FAULT),
        ({"days_ahead": 2}, Severity.FAULT),
        ({"pending_migrations": 1}, Severity.FAULT),
        ({"hidden_tables": 30}, Severity.FAULT),
        ({"sees_sessions": False}, Severity.HINT),
        ({"ends_sessions": False}, Severity.HINT),
        ({"bypassing_roles": ("horae_engine",)}, Severity.HINT),
    ],
)
def test_each_other_fact_is_missed_too(facts, level):
    first = examine(CELL._replace(**facts))[0]
    assert first.level is level
    assert first.advice


def test_a_role_that_bypasses_row_level_security_is_named_with_the_statement_that_ends_it():
    first = examine(CELL._replace(bypassing_roles=("horae_engine", "horae_relay")))[0]
    assert first.found == "horae_engine, horae_relay"
    assert "`alter role horae_engine nobypassrls; alter role horae_relay nobypassrls`" in first.advice
    assert "only a superuser" in first.advice


def test_in_production_a_superuser_is_a_fault():
    first = examine(CELL._replace(superuser=True), production=True)[0]
    assert (first.level, first.name, first.found) == (Severity.FAULT, "role", "superuser")


def test_the_page_explains_every_setting_the_doctor_looks_at():
    page = (Path(__file__).parents[2] / "docs" / "postgresql.md").read_text()
    for name, rule in SETTINGS.items():
        assert f"| `{name}` |" in page
        row = next(line for line in page.splitlines() if line.startswith(f"| `{name}` |"))
        assert f"| {rule.otherwise} |" in row


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("work_mem", "4096", "4 MB"),
        ("work_mem", "64", "64 kB"),
        ("shared_buffers", "16384", "128 MB"),
        ("max_wal_size", "1024", "1 GB"),
        ("max_slot_wal_keep_size", "-1", "-1"),
        ("autovacuum_naptime", "60", "60 s"),
        ("idle_in_transaction_session_timeout", "10000", "10000 ms"),
        ("default_statistics_target", "100", "100"),
        ("fsync", "on", "on"),
    ],
)
def test_a_setting_is_told_with_its_unit(name, value, shown):
    """TRIAL 3.9: `work_mem 4096`, `shared_buffers 16384`."""
    found = {finding.name: finding.found for finding in examine(CELL._replace(settings=SOUND | {name: value}))}
    assert found[name] == shown


@pytest.mark.parametrize(
    ("hosts", "production", "level"),
    [(1, True, Severity.HINT), (3, False, Severity.HINT), (3, True, Severity.FAULT)],
)
def test_an_empty_list_of_synchronous_standbys_is_a_fault_where_a_standby_may_be_promoted(hosts, production, level):
    found = examine_standbys("", hosts=hosts, production=production)
    assert (found.level, found.found, bool(found.advice)) == (level, "empty", True)
    assert examine_standbys("db2", hosts=hosts, production=production).level is Severity.OK
    cell = CELL._replace(settings=SOUND | {"synchronous_standby_names": ""}, hosts=hosts)
    assert [one.name for one in unfit(cell, production=production)] == (
        ["synchronous_standby_names"] if level is Severity.FAULT else []
    )


@pytest.mark.parametrize(("lag_s", "level"), [(None, Severity.HINT), (45, Severity.OK), (61, Severity.FAULT)])
def test_wal_that_is_not_archived_for_a_minute_is_a_fault(lag_s, level):
    lag = None if lag_s is None else timedelta(seconds=lag_s)
    [found] = [one for one in examine(CELL._replace(wal_archive_lag=lag)) if one.name == "WAL archive"]
    assert found.level is level
