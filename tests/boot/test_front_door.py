"""One front door: every command goes over HTTP with a key, except those that run, set up or rescue a deployment."""

import json
import os
import re
import subprocess
import sys
import time
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

from horae.boot.cli import app_of
from horae.boot.commands import alert_channels
from horae.boot.output import out
from horae.domain.tenants.tenants import SYSTEM
from tests.house.test_command_line import COMMANDS
from tests.receiver import receiving

OVER_POSTGRESQL = {
    "migrate",
    "node",
    "api",
    "serve",
    "dev",
    "doctor",
    "init",
    "audit fires",
    "audit verify",
    "audit anchor",
}
OVER_POSTGRESQL |= {"key bootstrap", "why"}
GROUPS_OVER_POSTGRESQL = {"cell", "certificate", "config", "drill", "keyring", "measure", "recover", "restore"}
LOCAL = {
    "version",
    "manual",
    "capacity",
    "key roles",
    "context add",
    "context list",
    "context remove",
    "context use",
    "login",
}
"""Commands that need neither: what they do is on this machine, or has a test of its own."""
AT = "2035-01-01T09:00:00+0000"
PLAN_CPU_S = 5.0
LATER = "2035-01-01T09:00:30+0000"
NO_INSTANCE, NO_ALERT, NO_MESSAGE = (f"{kind}_01hv3zq5k8e9r7t2m4n6p8s0v1" for kind in ("ins", "alr", "prk"))
NO_CAUSE, NO_REPLAY = (f"{kind}_01hv3zq5k8e9r7t2m4n6p8s0v1" for kind in ("cau", "prp"))
SOURCE = '{"origin": {"kind": "http", "url": "https://shop.example.com/pending"}}'


class Call(NamedTuple):
    """A command with its words. `changes`: a viewer may not. `status`: how it ends without a row or a node."""

    words: str
    changes: bool = False
    status: int = 0
    tenant: str = "default"
    said: str | None = None


CALLS = [
    Call("job create daily --cron @hourly", changes=True),
    Call("job create TYPE --keyed", changes=True),
    Call("job create SET --rolling 600", changes=True),
    Call("job list"),
    Call("job show daily"),
    Call("job label daily team=ops", changes=True),
    Call("job people daily --owner ops", changes=True),
    Call("job versions daily"),
    Call("job diff daily 1 2"),
    Call("job preview daily"),
    Call(f"job skip daily {AT}", changes=True),
    Call(f"job restore daily {AT}", changes=True),
    Call(f"job move daily {AT} {LATER}", changes=True),
    Call("job pause daily", changes=True),
    Call("job resume daily", changes=True),
    Call("job trigger daily", changes=True, status=5),
    Call("job test bad", changes=True, status=1),
    Call("task put TYPE 1", changes=True),
    Call("task show TYPE 1"),
    Call("task cancel TYPE 1", changes=True),
    Call("history daily"),
    Call("instance list"),
    Call("instance show {instance}"),
    Call("instance retry {instance}", changes=True),
    Call("instance cancel {instance}", changes=True, status=4),
    Call("dead-letter list"),
    Call("dead-letter replay --tag x", changes=True),
    Call("dead-letter discard {instance}", changes=True, status=4),
    Call("dead-letter discard --tag x --reason old", changes=True),
    Call("dead-letter tag --tag x --add y", changes=True),
    Call("failure-cause list"),
    Call(f"failure-cause show {NO_CAUSE}", status=3),
    Call("paced-replay start --tag x --key k", changes=True),
    Call("paced-replay list"),
    Call(f"paced-replay show {NO_REPLAY}", status=3),
    Call(f"paced-replay stop {NO_REPLAY}", changes=True, status=3),
    Call(f"backfill start daily --since {AT} --until {LATER} --key k", changes=True, status=1),
    Call("backfill show {backfill}"),
    Call(f"backfill plan daily --since {AT} --until {LATER}", status=1),
    Call("backfill pause {backfill}", changes=True),
    Call("backfill resume {backfill}", changes=True),
    Call("backfill cancel {backfill}", changes=True),
    Call(f"backfill-group start --prefix daily --since {AT} --until {LATER} --key k", changes=True),
    Call("backfill-group show {group}"),
    Call("backfill-group pause {group}", changes=True),
    Call("backfill-group resume {group}", changes=True),
    Call("backfill-group cancel {group}", changes=True),
    Call("graph create OTHER --file {graph}", changes=True),
    Call("graph update NIGHTLY --file {graph}", changes=True),
    Call("graph show NIGHTLY"),
    Call("graph runs NIGHTLY"),
    Call(f"graph run {NO_INSTANCE}", status=3),
    Call(f"graph children {NO_INSTANCE} load", status=3),
    Call(f"graph retry {NO_INSTANCE} load", changes=True, status=3),
    Call(f"graph skip {NO_INSTANCE} load", changes=True, status=3),
    Call(f"graph succeed {NO_INSTANCE} load", changes=True, status=3),
    Call("job problems"),
    Call("logs {instance}"),
    Call("instance result {instance}", status=3),
    Call("subject add SET a b", changes=True),
    Call("subject import SET", changes=True, said="c\nd\n"),
    Call("subject list SET"),
    Call("subject coverage SET"),
    Call("subject remove SET a", changes=True),
    Call("source put TYPE", changes=True, said=SOURCE),
    Call("source list"),
    Call("source show TYPE"),
    Call("source run TYPE", changes=True),
    Call("source rounds TYPE"),
    Call("source repairs TYPE"),
    Call("source pause TYPE", changes=True),
    Call("source resume TYPE", changes=True),
    Call("source remove TYPE", changes=True),
    Call("calendar import DE 2026 2026", changes=True),
    Call("calendar list"),
    Call("forecast"),
    Call("forecast worst"),
    Call("forecast spread"),
    Call("health"),
    Call("hold list"),
    Call("queue list"),
    Call("worker list"),
    Call("worker drain host-1/4711 --reason replaced", changes=True, status=3),
    Call("worker resume host-1/4711", changes=True, status=3),
    Call("secret put hook", changes=True, said="https://hooks.example.com/1\n"),
    Call("secret list", changes=True),
    Call("alert-channel put c --kind slack --url-secret hook", changes=True),
    Call("alert-channel list"),
    Call("alert-channel test c", changes=True),
    Call("alert-rule put r --kind dead_letter --channel c", changes=True),
    Call("alert-rule list"),
    Call("alert-rule remove r", changes=True),
    Call("silence put s --minutes 5", changes=True),
    Call("silence list"),
    Call("silence remove s", changes=True),
    Call("alert list"),
    Call(f"alert show {NO_ALERT}", status=3),
    Call(f"alert acknowledge {NO_ALERT}", changes=True, status=3),
    Call("alert-channel remove c", changes=True),
    Call("subscription put sub --webhook https://hooks.example.com/e --signing hook", changes=True),
    Call("subscription list"),
    Call("subscription show sub"),
    Call("subscription pause sub", changes=True),
    Call("subscription resume sub", changes=True),
    Call("subscription replay sub", changes=True),
    Call("subscription remove sub", changes=True),
    Call("intake put in --broker main --topic changes", changes=True),
    Call("intake list"),
    Call("intake show in"),
    Call("intake pause in", changes=True),
    Call("intake resume in", changes=True),
    Call("intake remove in", changes=True),
    Call("parked-message list"),
    Call(f"parked-message replay {NO_MESSAGE}", changes=True, status=3),
    Call(f"parked-message drop {NO_MESSAGE}", changes=True, status=3),
    Call("secret remove hook", changes=True),
    Call("plan --file {file}"),
    Call("apply --file {file}", changes=True),
    Call("import crontab {crontab} --apply --shadow", changes=True),
    Call("import xxl-job {empty}"),
    Call("import quartz {empty}"),
    Call("import celery {empty}"),
    Call("shadow list"),
    Call("shadow report {log}", status=6),
    Call("service-level"),
    Call("context show"),
    Call("key create ci --role viewer", changes=True),
    Call("key list", changes=True),
    Call("key bind group:ops --role viewer", changes=True),
    Call("key revoke {key}", changes=True),
    Call("audit list", changes=True),
    Call("job remove daily", changes=True),
    Call("nodes", tenant=SYSTEM),
    Call("shards", tenant=SYSTEM),
    Call("shard status", tenant=SYSTEM),
    Call("shard move 0 --to cell-1", changes=True, tenant=SYSTEM),
    Call("shard abort 0", changes=True, tenant=SYSTEM),
    Call("shard rebalance", changes=True, tenant=SYSTEM),
    Call("shard drain cell-1", changes=True, tenant=SYSTEM),
    Call("lateness", tenant=SYSTEM),
    Call("tenant create other", changes=True, tenant=SYSTEM),
    Call("tenant list", tenant=SYSTEM),
    Call("tenant allow default --weight 2", changes=True, tenant=SYSTEM),
    Call("tenant widen other --width 256", changes=True, tenant=SYSTEM),
    Call("tenant pause other", changes=True, tenant=SYSTEM),
    Call("tenant resume other", changes=True, tenant=SYSTEM),
    Call("tenant remove other --confirm other", changes=True, tenant=SYSTEM),
]


def command_of(words):
    """The name of the command in these words."""
    first, second, *_ = [*words.split(), ""]
    return f"{first} {second}" if f"horae {first} {second}" in COMMANDS else first


def test_each_command_goes_over_http_or_is_named_as_one_that_opens_postgresql():
    names = {name.removeprefix("horae ") for name in COMMANDS}
    direct = {name for name in names if name in OVER_POSTGRESQL or name.split()[0] in GROUPS_OVER_POSTGRESQL}
    assert {command_of(call.words) for call in CALLS} | LOCAL | direct == names


@pytest.fixture
def ids(horae, api, monkeypatch, tmp_path):
    """Rows and files that the words name. Afterwards neither a DSN nor a keyring is set."""
    horae("migrate")
    with receiving() as receiver:
        receiver.answers["/bad"] = [404]
        horae("job", "create", "bad", "--after", "0", "--url", f"{receiver.url}/bad")
        horae("job", "create", "past", "--cron", "@hourly")
        horae("node", "--once")
    [letter] = horae.json("dead-letter", "list")
    range_ = ("--since", "2026-01-01T00:00:00+0000", "--until", "2026-01-01T03:00:00+0000", "--key", "k")
    begun = horae.json("backfill", "start", "past", *range_)
    earlier = ("--since", "2025-01-01T00:00:00+0000", "--until", "2025-01-01T03:00:00+0000", "--key", "g")
    group = horae.json("backfill-group", "start", "--prefix", "past", *earlier)
    key = horae.json("key", "create", "revoked", "--role", "viewer")
    files = {name: tmp_path / name for name in ("file", "crontab", "empty", "log", "graph")}
    files["file"].write_text("owner: team\njobs: {planned: {cron: '@daily'}}\n")
    files["crontab"].write_text("0 * * * * /usr/bin/hourly\n")
    files["empty"].write_text("[]")
    files["graph"].write_text("steps: [{name: load}]\n")
    horae("graph", "create", "NIGHTLY", "--file", files["graph"])
    files["log"].write_text("name,time\nhourly,2030-01-01T00:30:00+00:00\n")
    for name in [name for name in os.environ if name.startswith("HORAE_") and name != "HORAE_ENVIRONMENT"]:
        monkeypatch.delenv(name)
    found = {"instance": letter["instance_id"], "backfill": begun["id"], "group": group["id"], "key": key["id"]}
    return found | {name: str(file) for name, file in files.items()}


def run(api, call, ids, key):
    """Run a command as a process would whose environment names the API and a key, and nothing else."""
    words = call.words.format(**ids).split()
    return CliRunner().invoke(app_of(words[0]), words, input=call.said, env={"HORAE_URL": api.url, "HORAE_KEY": key})


def test_without_a_dsn_every_other_command_passes_against_the_api(api, ids, monkeypatch):
    monkeypatch.setattr(alert_channels, "TEST_WAIT_S", 0.0)  # no node runs here
    for call in CALLS:
        done = run(api, call, ids, api.key(call.tenant))
        assert done.exit_code == call.status, (call.words, done.output, done.exception)


def test_a_viewers_key_gets_403_and_exit_code_1_for_each_change(api, ids):
    for call in CALLS:
        if call.changes:
            done = run(api, call, ids, api.key(call.tenant, "viewer"))
            assert (done.exit_code, "SCH_403_FORBIDDEN" in done.stderr) == (1, True), (call.words, done.output)


def test_a_thousand_jobs_are_planned_applied_and_then_nothing_is_left_to_do(api, ids, tmp_path, record_property):
    jobs = {f"job-{n:04}": {"cron": f"{n % 60} 2 * * *", "labels": {"n": str(n)}} for n in range(1000)}
    (tmp_path / "jobs.json").write_text(json.dumps({"owner": "many", "jobs": jobs}))
    ids["file"] = str(tmp_path / "jobs.json")  # JSON is YAML
    plan, apply = Call("plan --file {file} --json"), Call("apply --file {file} --json")
    key, began = api.key(), time.process_time()
    planned = run(api, plan, ids, key)
    spent = time.process_time() - began
    record_property("plan_cpu_s", round(spent, 2))
    assert spent < PLAN_CPU_S, "of the command and the API together"
    assert json.loads(planned.stdout)["counts"] == {"create": 1000}, planned.output
    applied = json.loads(run(api, apply, ids, api.key()).stdout)
    assert (len(applied["done"]), {one["code"] for one in applied["done"]}) == (1000, {None})
    again = json.loads(run(api, apply, ids, api.key()).stdout)
    assert (again["counts"], again["done"]) == ({"keep": 1000}, [])


def test_a_command_over_http_loads_neither_the_database_nor_the_server():
    code = """
import sys
from horae.boot.cli import app_of
for word in ("job", "task", "plan", "context", "health", "tenant", "instance", "key"):
    app_of(word)
loaded = {"asyncpg", "fastapi", "cryptography", "pydantic"} & sys.modules.keys()
sys.exit(f"loaded: {loaded}" if loaded else 0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_a_narrow_terminal_cuts_no_id_and_no_time(api, ids, monkeypatch):
    monkeypatch.setattr(out, "_width", 80)
    for words in ("instance list", "history bad", "dead-letter list"):
        said = run(api, Call(words), ids, api.key()).stdout
        assert ids["instance"] in said, said
        assert re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", said), said
        assert max(map(len, said.splitlines())) <= 80, said
