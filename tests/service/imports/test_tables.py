"""Tables of other systems out of whatever they can export."""

from datetime import UTC, datetime, timedelta

import pytest

from horae.domain.errors import Invalid
from horae.domain.schedules import OnMisfire, OnOverlap
from horae.domain.schedules.triggers import IntervalTrigger, OnceTrigger
from horae.service.imports import (
    ImportedJob,
    RefusedEntry,
    celery,
    celery_tables,
    crontab,
    dumps,
    quartz_tables,
    xxl_job,
)
from horae.service.imports.documents import comments, with_valid_names, words

ANCHOR = datetime(2024, 1, 1, tzinfo=UTC)
MYSQL = r"""
-- MySQL dump 10.13
DROP TABLE IF EXISTS `xxl_job_info`;
CREATE TABLE `xxl_job_info` (
  `id` int NOT NULL AUTO_INCREMENT,
  `job_group` int NOT NULL COMMENT '执行器主键ID',
  `job_desc` varchar(255) NOT NULL,
  `schedule_type` varchar(50) NOT NULL DEFAULT 'NONE',
  `schedule_conf` varchar(128) DEFAULT NULL,
  `misfire_strategy` varchar(50) NOT NULL,
  `executor_handler` varchar(255) DEFAULT NULL,
  `executor_param` varchar(512) DEFAULT NULL,
  `trigger_status` tinyint NOT NULL DEFAULT '0',
  PRIMARY KEY (`id`),
  KEY `by_group` (`job_group`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
INSERT INTO `xxl_job_info` VALUES (1,1,'发券; it''s \'daily\'','CRON','0 0 2 * * ?','DO_NOTHING','coupon','a\nb',1),
(2,1,'beat','FIX_RATE','30','FIRE_ONCE_NOW','beat',NULL,0);
INSERT INTO `xxl_job_info` VALUES (3,-1,'odd','CRON','0 0 30 2 * ?','DO_NOTHING',NULL,'',1);
"""
POSTGRES = """
COPY public.qrtz_cron_triggers (sched_name, trigger_name, trigger_group, cron_expression, time_zone_id) FROM stdin;
main\treport\tDEFAULT\t0 0 9 ? * MON-FRI\tEurope/Berlin
main\tsync\tnight\t0 */5 * * * ?\t\\N
\\.
COPY public.qrtz_simple_triggers (trigger_name, trigger_group, repeat_count, repeat_interval) FROM stdin;
poll\tDEFAULT\t-1\t90000
once\tDEFAULT\t0\t0
fast\tDEFAULT\t-1\t50
\\.
INSERT INTO public.qrtz_triggers (trigger_name, trigger_group, job_name, job_group, trigger_state, trigger_type,
 start_time, end_time, calendar_name, misfire_instr) VALUES
 ('report', 'DEFAULT', 'Report', 'DEFAULT', 'PAUSED', 'CRON', 1700000000000, 0, NULL, 2),
 ('sync', 'night', 'Sync', 'DEFAULT', 'WAITING', 'CRON', 1700000000000, 1900000000000, 'holidays', 0),
 ('poll', 'DEFAULT', 'Sync', 'DEFAULT', 'WAITING', 'SIMPLE', 1700000000000, 0, NULL, 0),
 ('once', 'DEFAULT', 'Sync', 'DEFAULT', 'WAITING', 'SIMPLE', 1900000000000, 0, NULL, 0),
 ('fast', 'DEFAULT', 'Sync', 'DEFAULT', 'WAITING', 'SIMPLE', 1900000000000, 0, NULL, 0),
 ('odd', 'DEFAULT', 'Sync', 'DEFAULT', 'WAITING', 'CAL_INT', 1900000000000, 0, NULL, 0);
INSERT INTO public.qrtz_job_details (job_name, job_group, job_class_name, is_nonconcurrent) VALUES
 ('Report', 'DEFAULT', 'com.acme.Report', false), ('Sync', 'DEFAULT', 'com.acme.Sync', true);
"""


def test_a_dump_of_mysql_is_read_with_its_texts_as_they_were():
    rows = dumps.read(MYSQL, alone="x")["xxl_job_info"]
    assert [row["id"] for row in rows] == [1, 2, 3]
    assert rows[0]["job_desc"] == "发券; it's 'daily'"
    assert rows[0]["executor_param"] == "a\nb"
    assert rows[1]["executor_param"] is None
    found = [xxl_job.read(row, server_zone="Asia/Shanghai", anchor=ANCHOR) for row in rows]
    assert [type(one) for one in found] == [ImportedJob, ImportedJob, RefusedEntry]
    assert [one.paused for one in found[:2]] == [False, True]


@pytest.mark.parametrize(
    "text",
    [
        '[{"ID": 1, "Name": "a"}, {"id": 2, "name": null}]',
        '{"t": [{"id": 1, "name": "a"}, {"id": 2, "name": null}]}',
        '{"id": 1, "name": "a"}\n{"id": 2, "name": null}\n',
    ],
)
def test_json_in_every_usual_form_is_the_same_table(text):
    assert dumps.read(text, alone="t") == {"t": [{"id": 1, "name": "a"}, {"id": 2, "name": None}]}


@pytest.mark.parametrize("text", ["id,name\n1,a\n2,NULL\n", "id\tname\n1\ta\n2\t\\N\n"])
def test_separated_values_are_a_table_of_texts(text):
    assert dumps.read(text, alone="t") == {"t": [{"id": "1", "name": "a"}, {"id": "2", "name": None}]}


@pytest.mark.parametrize("text", ["", "hello", "[1, 2]", "{oops", "insert into t values (1, now());"])
def test_what_is_no_dump_is_refused(text):
    with pytest.raises(Invalid):
        dumps.read(text, alone="t")


def test_quartz_tables_bring_state_bounds_and_the_job_behind():
    found = {one.name: one for one in quartz_tables.read(dumps.read(POSTGRES, alone="x"), zone="Asia/Tokyo")}
    report, sync = found["report"], found["night.sync"]
    assert (report.trigger.zone, report.paused) == ("Europe/Berlin", True)
    assert report.policies.misfire.policy is OnMisfire.SKIP
    assert report.payload == {"job": "Report", "job_class": "com.acme.Report"}
    assert (sync.trigger.zone, sync.policies.overlap) == ("Asia/Tokyo", OnOverlap.QUEUE_ONE)
    assert sync.policies.end == datetime.fromtimestamp(1_900_000_000, UTC)
    assert any("holidays" in one.text for one in sync.differences)
    start = datetime.fromtimestamp(1_700_000_000, UTC)
    assert found["poll"].trigger == IntervalTrigger(90.0, start)
    assert isinstance(found["once"].trigger, OnceTrigger)
    assert "at least 1 second" in found["fast"].reason
    assert "CAL_INT" in found["odd"].reason


def test_django_fixtures_and_tables_are_the_same_entries():
    fixture = """[
      {"model": "django_celery_beat.crontabschedule", "pk": 4, "fields":
        {"minute": "0", "hour": "9", "day_of_week": "*", "timezone": "Asia/Shanghai"}},
      {"model": "django_celery_beat.intervalschedule", "pk": 9, "fields": {"every": 10, "period": "minutes"}},
      {"model": "django_celery_beat.periodictask", "pk": 1, "fields": {"name": "report", "task": "acme.report",
        "crontab": 4, "interval": null, "args": "[1]", "kwargs": "{}", "enabled": false, "one_off": false}},
      {"model": "django_celery_beat.periodictask", "pk": 2, "fields": {"name": "sync", "task": "acme.sync",
        "interval": 9, "args": "[]", "enabled": true}}]"""
    entries = celery_tables.of_tables(dumps.read(fixture, alone="x"))
    tables = {
        "django_celery_beat_crontabschedule": [
            {"id": "4", "minute": "0", "hour": "9", "day_of_week": "*", "timezone": "Asia/Shanghai"}
        ],
        "django_celery_beat_periodictask": [
            {"id": "1", "name": "report", "task": "acme.report", "crontab_id": "4", "args": "[1]", "enabled": "f"}
        ],
    }
    for found in (entries, celery_tables.of_tables(tables)):
        made = celery.read("report", found["report"], app_zone="UTC", anchor=ANCHOR)
        assert (made.trigger.expression, made.trigger.zone) == ("0 0 9 * * *", "Asia/Shanghai")
        assert (made.paused, made.payload) == (True, {"task": "acme.report", "args": [1]})
    sync = celery.read("sync", entries["sync"], app_zone="UTC", anchor=ANCHOR)
    assert sync.trigger == IntervalTrigger(600.0, ANCHOR)


class Crontab:
    """As Celery's own, by what it holds."""

    _orig_minute, _orig_hour, _orig_day_of_month, _orig_month_of_year, _orig_day_of_week = "*/5", 9, "*", "*", "mon"


class Every:
    run_every = timedelta(seconds=30)


def test_descriptions_of_quartz_and_celery_become_those_of_the_jobs():
    tables = {
        "qrtz_cron_triggers": [{"trigger_name": "a", "cron_expression": "0 0 9 * * ?"}],
        "qrtz_triggers": [{"trigger_name": "a", "job_name": "A"}],
        "qrtz_job_details": [{"job_name": "A", "description": "Reports the day."}],
    }
    [made] = quartz_tables.read(tables, zone="UTC")
    entry = {"interval": {"every": 1, "period": "hours"}, "description": "Reports the hour."}
    other = celery.read("b", entry, app_zone="UTC", anchor=ANCHOR)
    assert [words(one)["description"] for one in (made, other)] == ["Reports the day.", "Reports the hour."]


def test_a_beat_schedule_of_objects_needs_no_celery():
    entries = celery_tables.of_schedule({"a": {"task": "x", "schedule": Crontab()}, "b": {"schedule": Every()}})
    a, b = (celery.read(name, one, app_zone="UTC", anchor=ANCHOR) for name, one in entries.items())
    assert a.trigger.expression == "0 */5 9 * * 1"
    assert b.trigger == IntervalTrigger(30.0, ANCHOR)
    with pytest.raises(Invalid):
        celery_tables.of_schedule([1])


def test_names_are_made_fit_and_told_apart_and_every_difference_is_a_comment():
    found = with_valid_names(crontab.read("* * * * * /bin/a b\n* * * * * /bin/a c\n99 * * * * x\n", machine_zone="UTC"))
    assert [one.name for one in found] == ["a", "a-2", "x"]
    said = words(found[0], url="https://host/{name}", shadow=True)
    assert said["target"] == {"kind": "http", "url": "https://host/a"}
    assert (said["cron"], said["dialect"], said["timezone"], said["shadow"]) == ("* * * * *", "unix5", "UTC", True)
    assert said["policies"] == {"misfire": {"policy": "skip"}}
    assert comments(found[0])[0] == "was: * * * * * /bin/a b"
    assert "minute 99" in comments(found[2])[0]


@pytest.mark.parametrize("kind", celery_tables.KINDS)
def test_a_row_whose_schedule_is_not_in_the_dump_is_refused_and_not_run_each_minute(kind):
    rows = {"django_celery_beat_periodictask": [{"name": "nightly", "task": "bill", f"{kind}_id": 5}]}
    [(name, entry)] = celery_tables.of_tables(rows).items()
    found = celery.read(name, entry, app_zone="UTC", anchor=ANCHOR)
    assert isinstance(found, RefusedEntry)
    assert "5 is not in the dump" in str(found.reason)


def test_an_interval_without_its_columns_is_refused_alone():
    found = celery.read("sync", {"task": "t", "interval": {"id": 1}}, app_zone="UTC", anchor=ANCHOR)
    assert isinstance(found, RefusedEntry)


def test_an_end_beyond_all_calendars_is_none():
    dump = POSTGRES.replace("1900000000000, 'holidays'", "9223372036854775807, 'holidays'")
    found = {one.name: one for one in quartz_tables.read(dumps.read(dump, alone="x"), zone="Asia/Tokyo")}
    assert any(name.endswith("sync") for name in found)
