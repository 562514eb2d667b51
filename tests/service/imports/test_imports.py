"""Schedules of other systems in our words, and what we say will not be the same."""

import random
from datetime import UTC, date, datetime, timedelta

import pytest

from horae.domain.cron import Dialect
from horae.domain.errors import InvalidSchedule
from horae.domain.schedules import OnMisfire, OnOverlap
from horae.domain.schedules.triggers import IntervalTrigger, ManualTrigger, OnceTrigger
from horae.service.imports import ImportedJob, RefusedEntry, celery, crontab, holidays, quartz, xxl_job
from horae.service.imports.celery_fields import FIELDS
from horae.service.imports.results import DifferenceTopic

NOW = datetime(2026, 3, 1, tzinfo=UTC)
CRONTAB = """
# m h dom mon dow command
MAILTO=ops@example.com
*/15 * * * * /usr/bin/poll
30 2 * * *  /usr/bin/backup --all
CRON_TZ=Asia/Shanghai
*/10 2 * * 1-5 echo 100%
@daily /usr/bin/tidy
@reboot /usr/bin/start
*/60 * * * * /usr/bin/hourly
0~59 3 * * * /usr/bin/spread
99 * * * * /usr/bin/broken
"""


def kinds(found):
    return {difference.kind for difference in found.differences}


def test_a_crontab_is_taken_over_line_by_line():
    found = list(crontab.read(CRONTAB, machine_zone="Europe/Berlin", salt="acme"))
    assert [type(one) for one in found] == [ImportedJob] * 4 + [RefusedEntry, ImportedJob, ImportedJob, RefusedEntry]
    poll, backup, echo, tidy, reboot, hourly, spread, broken = found
    assert poll.trigger.dialect is Dialect.UNIX5
    assert poll.trigger.zone == "Europe/Berlin"
    assert poll.policies.misfire.policy is OnMisfire.SKIP
    assert poll.name == "poll"
    assert poll.payload == {"command": "/usr/bin/poll", "environment": {"MAILTO": "ops@example.com"}}
    assert kinds(poll) == {DifferenceTopic.MISSED, DifferenceTopic.ZONE, DifferenceTopic.IGNORED}
    assert kinds(backup) == {DifferenceTopic.MISSED, DifferenceTopic.ZONE, DifferenceTopic.IGNORED}
    assert echo.trigger.zone == "Asia/Shanghai"
    assert kinds(echo) == {DifferenceTopic.MISSED, DifferenceTopic.IGNORED}
    assert tidy.trigger.expression == "@daily"
    assert "never stops" in reboot.reason
    assert hourly.trigger.expression == "0 * * * *"
    assert DifferenceTopic.REWRITTEN in kinds(hourly)
    assert spread.trigger.expression == "H(0-59) 3 * * *"
    assert "minute 99" in broken.reason


def test_a_starred_minute_beside_named_hours_is_reported_where_clocks_change():
    (found,) = crontab.read("*/10 2 * * * x", machine_zone="America/New_York")
    assert DifferenceTopic.DST in kinds(found)
    (found,) = crontab.read("*/10 2 * * * x", machine_zone="Asia/Tokyo")
    assert DifferenceTopic.DST not in kinds(found)


def test_a_system_crontab_has_a_user_before_the_command():
    (found,) = crontab.read("17 * * * * root cd / && run-parts /etc/cron.hourly", machine_zone="UTC", system=True)
    assert found.payload == {"command": "cd / && run-parts /etc/cron.hourly", "user": "root"}


def test_celery_days_must_match_together_and_keep_doing_so():
    entry = {
        "task": "report",
        "schedule": {"minute": 0, "hour": "9,17", "day_of_month": "1-7", "day_of_week": "sat-mon"},
    }
    found = celery.read("first-weekend", entry, app_zone="Europe/Berlin", anchor=NOW)
    assert found.trigger.dialect is Dialect.SPRING6
    assert found.trigger.expression == "0 0 9,17 1-7 * 0-1,6"
    assert {DifferenceTopic.DAYS, DifferenceTopic.REWRITTEN, DifferenceTopic.DST} <= kinds(found)
    assert found.payload == {"task": "report"}


def test_celery_counts_every_second_weekday_from_sunday():
    found = celery.read(
        "w", {"crontab": {"minute": "0", "hour": "0", "day_of_week": "*/2"}}, app_zone="UTC", anchor=NOW
    )
    assert found.trigger.expression == "0 0 0 * * 0,2,4,6"


def test_a_celery_rhythm_stays_one():
    found = celery.read("r", {"schedule": {"minute": "*/5", "hour": "*/2"}}, app_zone="UTC", anchor=NOW)
    assert found.trigger.expression == "0 */5 */2 * * *"


@pytest.mark.parametrize(
    ("entry", "seconds"),
    [
        ({"schedule": 30.0}, 30),
        ({"schedule": timedelta(minutes=5)}, 300),
        ({"interval": {"every": 2, "period": "hours"}}, 7200),
    ],
)
def test_celery_intervals_get_an_anchor(entry, seconds):
    found = celery.read("i", entry, app_zone="UTC", anchor=NOW)
    assert found.trigger == IntervalTrigger(seconds, NOW)
    assert kinds(found) == {DifferenceTopic.RHYTHM}


def test_a_django_row_brings_its_bounds_and_whether_it_was_enabled():
    row = {
        "task": "close",
        "crontab": {"minute": "0", "hour": "18", "timezone": "Asia/Shanghai"},
        "one_off": True,
        "enabled": False,
        "start_time": "2026-04-01T00:00:00Z",
        "expires": "2027-01-01T00:00:00",
        "queue": "slow",
    }
    found = celery.read("close", row, app_zone="UTC", anchor=NOW)
    assert found.trigger.zone == "Asia/Shanghai"
    assert found.policies.max_count == 1
    assert (found.policies.start.year, found.policies.end.year) == (2026, 2027)
    assert found.paused
    assert {DifferenceTopic.DISABLED, DifferenceTopic.IGNORED} <= kinds(found)


def test_a_clocked_row_fires_once():
    found = celery.read("c", {"clocked": "2026-05-01T10:00:00+08:00"}, app_zone="UTC", anchor=NOW)
    assert found.trigger == OnceTrigger(datetime(2026, 5, 1, 2, tzinfo=UTC))


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({"solar": {"event": "sunset"}}, "sun"),
        ({"schedule": 0.2}, "at least 1 second"),
        ({"schedule": {"minute": "61"}}, "no value of Celery's minute"),
        ({"schedule": {"minute": "*/0"}}, "means nothing"),
        ({"schedule": {"day_of_month": "31", "month_of_year": "2"}}, "never fires"),
        ({}, "no crontab"),
    ],
)
def test_what_celery_has_and_we_cannot_is_refused(entry, why):
    found = celery.read("x", entry, app_zone="UTC", anchor=NOW)
    assert isinstance(found, RefusedEntry)
    assert why in found.reason


def test_celery_fields_are_spelled_with_the_values_they_stand_for():
    chance = random.Random(3)
    for _ in range(500):
        field = FIELDS[chance.choice(list(FIELDS))]
        a, b, step = chance.randint(field.low, field.high), chance.randint(field.low, field.high), chance.randint(1, 6)
        given = chance.choice([f"{a}-{b}", f"{a},{b}", f"{a}-{b}/{step}", f"*/{step}", str(a), a, [a, b], {a, b}])
        assert field.values(field.to_spring(given)) == field.values(given), (field, given)


def test_a_quartz_trigger_keeps_its_expression_and_its_misfire_rule():
    found = quartz.read("q", "0 0 9 ? * 2-6", zone_name="Europe/Berlin", misfire="DO_NOTHING", concurrent=False)
    assert found.trigger.dialect is Dialect.QUARTZ6
    assert found.policies.misfire.policy is OnMisfire.SKIP
    assert found.policies.overlap is OnOverlap.QUEUE_ONE
    assert kinds(found) == {DifferenceTopic.DST, DifferenceTopic.OVERLAP}
    assert kinds(quartz.read("q", "0 0 0 31W * ? 2030", zone_name="UTC")) == {DifferenceTopic.DAYS}
    assert kinds(quartz.read("q", "0 0 0 L-30W 1 ?", zone_name="UTC", misfire="IGNORE_MISFIRE_POLICY")) == {
        DifferenceTopic.DAYS,
        DifferenceTopic.MISSED,
    }


def test_a_quartz_expression_that_never_fires_is_refused():
    assert "never fires" in quartz.read("q", "0 0 0 30 2 ?", zone_name="UTC").reason
    assert "misfire instruction" in quartz.read("q", "0 0 0 1 2 ?", zone_name="UTC", misfire="HOPE").reason


def test_xxl_job_rows_bring_their_strategies():
    row = {
        "id": 7,
        "job_desc": "coupon",
        "schedule_type": "CRON",
        "schedule_conf": "0 */5 * * * ?",
        "misfire_strategy": "FIRE_ONCE_NOW",
        "executor_block_strategy": "COVER_EARLY",
        "executor_handler": "couponHandler",
        "trigger_status": 0,
    }
    found = xxl_job.read(row, server_zone="Asia/Shanghai", anchor=NOW)
    assert found.name == "coupon"
    assert found.trigger.zone == "Asia/Shanghai"
    assert found.policies.misfire.policy is OnMisfire.ONCE
    assert found.policies.overlap is OnOverlap.REPLACE
    assert found.paused
    assert kinds(found) == {DifferenceTopic.ZONE, DifferenceTopic.DISABLED}
    assert found.payload == {"executor_handler": "couponHandler"}


def test_xxl_job_rows_bring_their_author_and_say_where_alarms_went():
    row = {"id": 7, "job_desc": "发券", "schedule_type": "NONE", "author": " XXL ", "alarm_email": "a@example.com"}
    found = xxl_job.read(row, server_zone="UTC", anchor=NOW)
    assert (found.description, found.owner) == ("发券", "XXL")
    assert [one.text for one in found.differences if "a@example.com" in one.text] == [
        "its alarms went to a@example.com: name alert channels under contacts"
    ]


def test_texts_that_no_job_can_have_are_cut_and_cleaned():
    row = {"schedule_type": "NONE", "job_desc": f"a\x00b {'x' * 3000}", "author": f"{'y' * 200}\n"}
    found = xxl_job.read(row, server_zone="UTC", anchor=NOW)
    assert (len(found.description), found.description[:3], found.owner) == (2000, "a b", "y" * 128)


def test_xxl_job_fixed_rates_and_manual_jobs():
    rows = b'[{"id": 1, "schedule_type": "FIX_RATE", "schedule_conf": "30"}, {"id": 2, "schedule_type": "NONE"}]'
    rate, manual = xxl_job.read_all(rows, server_zone="UTC", anchor=NOW)
    assert rate.trigger == IntervalTrigger(30.0, NOW)
    assert kinds(rate) == {DifferenceTopic.RHYTHM, DifferenceTopic.OVERLAP}
    assert isinstance(manual.trigger, ManualTrigger)


@pytest.mark.parametrize(
    "row",
    [
        {"schedule_type": "FIX_DELAY", "schedule_conf": "30"},
        {"schedule_type": "FIX_RATE", "schedule_conf": "often"},
        {"schedule_conf": "0 0 0 30 2 ?"},
        {"schedule_conf": "0 0 0 1 2 ?", "misfire_strategy": "HOPE"},
        {"schedule_conf": "0 0 0 1 2 ?", "executor_block_strategy": "PUSH"},
    ],
)
def test_what_xxl_job_has_and_we_cannot_is_refused(row):
    assert isinstance(xxl_job.read(row, server_zone="UTC", anchor=NOW), RefusedEntry)


def test_chinas_makeup_workdays_are_workdays():
    work, free = holidays.read("china", "CN", [2025, 2026])
    assert work.has(date(2026, 1, 4)) is True  # a Sunday, worked for 2 January
    assert work.has(date(2026, 1, 2)) is False
    assert free.has(date(2026, 10, 1)) is True
    assert work.has(date(2027, 1, 4)) is None


def test_years_that_nobody_has_published_are_refused():
    with pytest.raises(InvalidSchedule, match="not published yet"):
        holidays.read("china", "CN", [2026, 2027])


def test_years_that_depend_on_a_sighted_moon_are_refused():
    with pytest.raises(InvalidSchedule, match="not certain yet"):
        holidays.read("emirates", "AE", [2040])


@pytest.mark.parametrize(("country", "years"), [("XX", [2026]), ("DE", []), ("DE", [2024, 2026])])
def test_unknown_countries_and_odd_years_are_refused(country, years):
    with pytest.raises(InvalidSchedule):
        holidays.read("x", country, years)


def test_a_country_with_fixed_rules_needs_no_announcement():
    work, _ = holidays.read("germany", "DE", [2027], subdivision="BY")
    assert work.has(date(2027, 1, 6)) is False
    assert work.has(date(2027, 1, 7)) is True
