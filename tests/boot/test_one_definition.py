"""The same job, said to the API, in a file, by an importer and on the command line, has one definition."""

import json
from datetime import UTC, datetime
from uuid import UUID

import pytest

from horae.api.models.jobs import JobView, NewJob
from horae.api.models.versions import UpdateJob
from horae.boot.commands.schedules import trigger_said
from horae.boot.output import to_json
from horae.boot.schedule_files import ScheduleFile, yaml
from horae.boot.schedule_files.declared import source_of
from horae.domain.cron import Gap, Overlap
from horae.domain.jobs.definitions import definition_of
from horae.domain.jobs.jobs import Job, Status
from horae.domain.rolling.rolling import ONE_TRY
from horae.domain.tenants.tenants import Tenant
from horae.service.imports import celery, crontab
from horae.service.imports.documents import words

NOW = datetime(2030, 1, 31, 8, 0, 0, 123456, tzinfo=UTC)
ANCHOR = datetime(2024, 1, 1, tzinfo=UTC)
ACME = Tenant(UUID(int=7), "acme", 16, "Asia/Shanghai")
URL = "https://example.com/run/{name}"

CRONTAB = """
CRON_TZ=Europe/Berlin
~ 2 * * * /usr/bin/backup --all
"""
BACKUP = {
    "name": "backup",
    "cron": "H 2 * * *",
    "dialect": "unix5",
    "timezone": "Europe/Berlin",
    "target": {"kind": "http", "url": "https://example.com/run/backup"},
    "policies": {"misfire": {"policy": "skip"}},
    "payload": {"command": "/usr/bin/backup --all"},
}
BACKUP_FILE = """
owner: crontab
jobs:
  backup:
    trigger: {kind: cron, expression: H 2 * * *, zone: Europe/Berlin}
    target: {kind: http, url: https://example.com/run/backup}
    policies: {misfire: {policy: skip}}
    payload: {command: /usr/bin/backup --all}
"""
BACKUP_WORDS = "--cron|H 2 * * *|--zone|Europe/Berlin|--misfire|skip|--url|https://example.com/run/backup"

BEAT = {"task": "shop.tidy", "schedule": 90}
TIDY = {
    "name": "tidy",
    "trigger": {"kind": "interval", "every": 90, "anchor": "2024-01-01T08:00:00+08:00"},
    "target": {"kind": "http", "url": "https://example.com/run/tidy"},
    "payload": {"task": "shop.tidy"},
}
TIDY_FILE = """
owner: celery
defaults:
  target: {kind: http, url: https://example.com/run/tidy}
jobs:
  tidy:
    trigger: {kind: interval, every: 90, anchor: "2024-01-01T00:00:00Z"}
    payload: {task: shop.tidy}
"""


def by_api(body):
    return NewJob.model_validate(body).definition(ACME, body["name"], NOW)


def by_file(text):
    (job,) = source_of(yaml.read(text, "jobs.yaml"), None, "jobs.yaml").parse(ACME, NOW)
    return job.definition


def by_importer(found):
    (job,) = ScheduleFile("import", {found.name: words(found, url=URL)}).parse(ACME, NOW)
    return job.definition


def test_a_line_of_a_crontab_is_the_job_that_a_body_and_a_file_define():
    (found,) = crontab.read(CRONTAB, machine_zone="UTC")
    assert by_importer(found) == by_api(BACKUP) == by_file(BACKUP_FILE)
    assert by_api(BACKUP).trigger.salt == "acme/backup"


def test_an_entry_of_celery_is_the_job_that_a_body_and_a_file_define():
    found = celery.read("tidy", BEAT, app_zone="UTC", anchor=ANCHOR)
    assert by_importer(found) == by_api(TIDY) == by_file(TIDY_FILE)


@pytest.mark.parametrize("body", [BACKUP, TIDY], ids=lambda body: body["name"])
def test_an_update_defines_what_a_creation_does(body):
    said = {field: value for field, value in body.items() if field != "name"} | {"version": 3}
    assert UpdateJob.model_validate(said).definition(ACME, body["name"], NOW) == by_api(body)


@pytest.mark.parametrize(
    ("options", "body"),
    [
        ({"cron": "0 2 * * *"}, {"cron": "0 2 * * *"}),
        ({"every": 90.0}, {"trigger": {"kind": "interval", "every": 90}}),
        ({"at": NOW}, {"trigger": {"kind": "once", "at": "2030-01-31T08:00:00.123456Z"}}),
        ({"after": 3.0}, {"trigger": {"kind": "delay", "seconds": 3}}),
        ({"keyed": True}, {"trigger": {"kind": "keyed"}}),
        ({"rolling": "600"}, {"trigger": {"kind": "rolling", "window": 600, "every": 60}}),
        (
            {"rolling": "10d", "every": 86400.0},
            {"trigger": {"kind": "rolling", "window": {"days": 10}, "every": 86400}},
        ),
        (
            {"rolling": "1mo", "cron": "0 2 * * *", "zone": "Europe/Berlin"},
            {
                "trigger": {
                    "kind": "rolling",
                    "window": {"months": 1, "zone": "Europe/Berlin"},
                    "every": {"kind": "cron", "expression": "0 2 * * *", "zone": "Europe/Berlin"},
                }
            },
        ),
        ({}, {"trigger": {"kind": "manual"}}),
    ],
    ids=lambda one: next(iter(one), "manual"),
)
def test_an_option_of_the_command_line_is_the_trigger_of_a_body(options, body):
    none = {"cron": None, "dialect": None, "zone": None, "dst": (Gap.FIRE_AFTER, Overlap.FIRST), "every": None}
    none |= {"at": None, "after": None, "keyed": False, "rolling": None}
    said = {"trigger": trigger_said(**none | options)}
    assert definition_of(said, ACME, "one", NOW) == by_api({"name": "one", **body})


def test_what_is_omitted_is_filled_in_the_same_way():
    for said in ({}, {"trigger": None, "target": None, "payload": None}):
        made = by_api({"name": "hand", **said})
        assert (made.trigger.__struct_config__.tag, made.target.name, made.priority.name) == (
            "manual",
            "hand",
            "NORMAL",
        )
    rolling = by_api({"name": "r", "trigger": {"kind": "rolling", "window": 600, "every": 60}})
    assert (rolling.retry, rolling.trigger.anchor) == (ONE_TRY, NOW.replace(microsecond=0))
    assert by_api({"name": "c", "cron": "0 2 * * *"}).trigger.zone == "Asia/Shanghai"


def test_the_command_line_defines_what_a_body_does(horae, monkeypatch):
    monkeypatch.setenv("HORAE_TENANT", ACME.name)
    horae("migrate")
    words = BACKUP_WORDS.split("|")
    theirs = horae.json("job", "create", "backup", *words, "--payload", json.dumps(BACKUP["payload"]))
    job = Job(
        shard=0,
        id=UUID(int=1),
        tenant_id=ACME.id,
        name="backup",
        version=1,
        status=Status.ACTIVE,
        definition=by_api(BACKUP),
    )
    ours = json.loads(to_json(JobView.of(job)))
    differing = {"id", "next_fire_at", "changed_at", "schedule", "held"}
    assert {key: value for key, value in theirs.items() if key not in differing} == {
        key: value for key, value in ours.items() if key not in differing
    }
