"""Schedules as code, imports and shadows, from the command line."""

import json

import pytest

JOBS = """
owner: billing
jobs:
  nightly_report:
    cron: 0 2 * * *
    timezone: Asia/Shanghai
    labels: {team: finance}
  coupon_job: {cron: "0 */5 * * * ?"}
"""

EDGES = """
owner: reporting
jobs:
  a_report: {after: {job: b_load, on: ended}}
  b_load: {}
  c_mail: {after: {job: a_report, on: succeeded}}
"""


@pytest.fixture
def horae(horae, monkeypatch, tmp_path):
    """The command line in a folder of its own; it returns what was printed, also by a command that fails."""
    monkeypatch.chdir(tmp_path)
    horae("migrate")
    return lambda *words, status=0: horae.result(*words, status=status).stdout


def test_a_file_is_planned_applied_changed_and_pruned(horae, tmp_path):
    file = tmp_path / "jobs.yaml"
    file.write_text(JOBS)
    planned = horae("plan", "-f", str(file), "--check", status=6)
    assert "+ coupon_job: create" in planned
    assert "billing: 2 to create" in planned
    assert horae("job", "list", "--json") == "[]\n", "a plan writes nothing"
    horae("apply", "-f", str(file), "--dry-run")
    assert horae("job", "list", "--json") == "[]\n"
    assert "applied: 2 done, 0 refused" in horae("apply", "-f", str(file))
    assert horae("apply", "-f", str(file)) == "billing: 2 unchanged\napplied: 0 done, 0 refused\n"
    horae("plan", "-f", str(file), "--check")
    file.write_text(JOBS.replace("0 2 * * *", "0 3 * * *").replace("  coupon_job", "  other_job"))
    planned = horae("plan", "-f", str(file))
    assert '~ trigger.expression: "0 2 * * *" → "0 3 * * *"' in planned
    assert "18:00:00" in planned, "when it fired"
    assert "19:00:00" in planned, "when it would fire"
    assert "? coupon_job: declared no longer; left alone" in planned
    told = json.loads(horae("apply", "-f", str(file), "--prune", "--json"))
    assert told["counts"] == {"change": 1, "create": 1, "prune": 1}
    assert all(one["code"] is None for one in told["done"])
    names = [job["name"] for job in json.loads(horae("job", "list", "--json"))]
    assert names == ["nightly_report", "other_job"]


def test_a_job_is_applied_after_the_one_that_it_starts_after_and_circles_are_refused(horae, tmp_path):
    file = tmp_path / "edges.yaml"
    file.write_text(EDGES)
    planned = horae("plan", "-f", str(file))
    assert "reporting: 3 to create" in planned
    assert "applied: 3 done, 0 refused" in horae("apply", "-f", str(file))
    assert "  after    b_load ended; 0 started" in horae("job", "show", "a_report")
    assert horae("apply", "-f", str(file)) == "reporting: 3 unchanged\napplied: 0 done, 0 refused\n"
    file.write_text(EDGES.replace("on: ended", "on: failed"))
    planned = horae("plan", "-f", str(file))
    assert '~ after.on: "ended" → "failed"' in planned
    file.write_text(
        EDGES.replace("b_load: {}", "b_load: {after: {job: a_report}}").replace("{job: a_report, on", "{job: gone, on")
    )
    said = horae("plan", "-f", str(file), status=1)
    assert "c_mail: refused: there is no job 'gone' to start after" in said
    assert "b_load: refused: jobs would start each other without end: b_load → a_report → b_load" in said
    horae("job", "create", "by_hand", "--after-job", "b_load", "--after-on", "failed")
    assert "  after    b_load failed" in horae("job", "show", "by_hand")


def test_a_conflicting_edit_is_shown_and_survives_until_someone_insists(horae, tmp_path):
    file = tmp_path / "jobs.yaml"
    file.write_text(JOBS)
    horae("apply", "-f", str(file))
    horae("job", "label", "coupon_job", "team=ops")
    said = horae("apply", "-f", str(file), status=4)
    assert "! coupon_job: conflict: somebody changed it since it was last applied" in said
    assert 'theirs + labels.team: "ops"' in said
    assert "team=ops" in horae("job", "show", "coupon_job")
    horae("apply", "-f", str(file), "--force")
    assert "team=ops" not in horae("job", "show", "coupon_job")
    horae("plan", "-f", str(file), "--check")


def test_what_cannot_be_read_is_refused_with_what_to_do(horae, tmp_path):
    horae("plan", status=1)
    horae("plan", "-f", str(tmp_path / "nowhere.yaml"), status=2)
    (tmp_path / "bad.yaml").write_text("jobs: {a: {cron: '* * *'}}")
    horae("plan", "-f", "bad.yaml", status=1)
    (tmp_path / "never.yaml").write_text("owner: x\njobs: {a: {cron: '0 0 30 2 *'}, b: {cron: '* * * * *'}}")
    horae("apply", "-f", "never.yaml", status=1)


def test_a_module_beside_its_code_is_applied(horae, tmp_path):
    (tmp_path / "acme_jobs.py").write_text(
        "from horae_client.schedules import job\nOWNER = 'acme'\n@job(cron='0 2 * * *')\ndef report(): ...\n"
    )
    assert "acme: 1 to create" in horae("apply", "-m", "acme_jobs")
    assert "acme: 1 unchanged" in horae("apply", "-m", "acme_jobs")


CRONTAB = """
MAILTO=ops@example.com
CRON_TZ=UTC
0 * * * * /usr/bin/hourly
*/15 3 * * * /usr/bin/quarter --all
@reboot /usr/bin/start
"""


def test_a_crontab_becomes_a_file_with_every_difference_and_refusal(horae, tmp_path):
    (tmp_path / "crontab").write_text(CRONTAB)
    file = horae("import", "crontab", "crontab", "--owner", "cron")
    assert "# refused: start (@reboot /usr/bin/start)" in file
    assert "  # was: 0 * * * * /usr/bin/hourly" in file
    (tmp_path / "jobs.yaml").write_text(file)
    assert "cron: 2 to create" in horae("apply", "-f", "jobs.yaml")
    assert "cron: 2 unchanged" in horae("import", "crontab", "crontab", "--owner", "cron", "--plan")
    horae("import", "crontab", "crontab", "--strict", "-o", "again.yaml", status=1)
    told = json.loads(horae("import", "crontab", "crontab", "--json"))
    assert [one["name"] for one in told["found"]] == ["hourly", "quarter", "start"]
    assert "refused" in told["found"][2]


def test_shadows_fire_nothing_and_report_what_would_differ(horae, tmp_path):
    (tmp_path / "crontab").write_text(CRONTAB)
    horae("import", "crontab", "crontab", "--shadow", "--apply")
    assert [job["status"] for job in json.loads(horae("shadow", "list", "--json"))] == ["PAUSED", "PAUSED"]
    horae("cell", "move-clock", "90000", "--reason", "a test")
    assert horae("node", "--once") == "0 done\n"
    hourly = [f"hourly,2030-01-01T{hour:02}:00:00.250+00:00" for hour in range(24)]
    quarter = [f"quarter,2030-01-01T03:{minute:02}:01+00:00" for minute in (0, 15, 30, 45)]
    (tmp_path / "log.csv").write_text("\n".join(["name,time", *hourly, *quarter]))
    said = json.loads(horae("shadow", "report", "log.csv", "--json"))
    assert said["same"], said
    assert [one["matched"] for one in said["jobs"]] == [24, 4]
    (tmp_path / "log.csv").write_text("\n".join(["name,time", *hourly[1:], *quarter[:3], "gone,2030-01-01T05:00:00Z"]))
    said = json.loads(horae("shadow", "report", "log.csv", "--since", "2030-01-01T00:00:00+0000", "--json", status=6))
    assert said["unknown"] == ["gone"]
    assert [(one["missing"], len(one["extra"])) for one in said["jobs"]] == [([], 1), ([], 1)]
    assert "different" in horae("shadow", "report", "log.csv", status=6)
    (tmp_path / "cutover.yaml").write_text(horae("import", "crontab", "crontab"))
    assert "and resume" in horae("apply", "-f", "cutover.yaml")
    assert json.loads(horae("shadow", "list", "--json")) == []


def test_other_systems_are_taken_over_from_what_they_export(horae, tmp_path, monkeypatch):
    (tmp_path / "xxl_job_info.csv").write_text(
        "id,job_desc,schedule_type,schedule_conf,misfire_strategy,executor_block_strategy,executor_handler,trigger_status\n"
        "1,发券,CRON,0 0 2 * * ?,DO_NOTHING,SERIAL_EXECUTION,coupon,1\n"
    )
    assert "xxl-job: 1 to create" in horae(
        "import",
        "xxl-job",
        "xxl_job_info.csv",
        "--zone",
        "Asia/Shanghai",
        "--url",
        "http://localhost:9/{name}",
        "--apply",
    )
    assert (
        json.loads(horae("job", "show", "发券", "--json"))["target"]["url"] == "http://localhost:9/%E5%8F%91%E5%88%B8"
    )
    (tmp_path / "qrtz_cron_triggers.json").write_text(
        '[{"TRIGGER_NAME": "report", "TRIGGER_GROUP": "DEFAULT", "CRON_EXPRESSION": "0 0 9 ? * MON-FRI"}]'
    )
    assert "cron: 0 0 9 ? * MON-FRI" in horae("import", "quartz", "qrtz_cron_triggers.json", "--zone", "Asia/Tokyo")
    (tmp_path / "beat_config.py").write_text("SCHEDULE = {'sync': {'task': 'acme.sync', 'schedule': 600.0}}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert "every: 600.0" in horae("import", "celery", "beat_config:SCHEDULE")
    (tmp_path / "beat.json").write_text('{"Nine": {"task": "x", "schedule": {"minute": "0", "hour": "9"}}}')
    made = horae("import", "celery", "beat.json", "--zone", "UTC")
    assert "  Nine:\n    cron: 0 0 9 * * *" in made
    horae("import", "celery", "beat_config:NOTHING", status=3)
    horae("import", "crontab", "nowhere", status=3)
    horae("import", "xxl-job", "mysql://root@db/xxl_job", status=1)
    horae("import", "crontab", "xxl_job_info.csv", "--zone", "Nowhere/At_All", status=1)
