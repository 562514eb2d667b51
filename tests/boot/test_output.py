"""Answers for people and for programs, and what the status of a command says."""

import asyncio
import json
import os
import re

from typer.testing import CliRunner

from horae.boot import remote
from horae.boot.cli import whole
from horae.store.databases import databases
from horae_client.retries import Retries
from tests.cluster import free_port
from tests.receiver import receiving


def test_every_noun_answers_as_the_api_does_when_asked_for_json(horae):
    assert horae.json("version")["version"]
    assert "tenant default created" in horae.json("migrate")["done"]
    with receiving() as receiver:
        receiver.answers["/bad"] = [404]
        made = horae.json("job", "create", "good", "--cron", "*/5 * * * *", "--url", f"{receiver.url}/good")
        assert (made["name"], made["trigger"]["dialect"], len(made["schedule"]["fires"])) == ("good", "unix5", 5)
        horae.json("job", "create", "bad", "--after", "0", "--url", f"{receiver.url}/bad")
        horae.json("job", "create", "TYPE", "--keyed")
        assert horae.json("task", "put", "TYPE", "42")["decision"] == "created"
        assert horae.json("task", "show", "TYPE", "42")["decisions"][0]["decision"] == "created"
        assert horae.json("job", "test", "good")["outcome"] == "success"
        assert horae.json("node", "--once")["done"] >= 1
    [letter] = horae.json("dead-letter", "list")
    assert letter["error_code"] == "HTTP_4XX"
    shown = horae.json("instance", "show", letter["instance_id"])
    assert (shown["state"], len(shown["attempts"])) == ("DEAD", 1)
    assert "DEAD" in horae("instance", "show", letter["instance_id"])
    assert {one["state"] for one in horae.json("instance", "list")} >= {"DEAD"}
    assert horae.json("history", "bad")[0]["state"] == "DEAD"
    assert horae.json("dead-letter", "discard", letter["instance_id"])["replay_status"] == "DISCARDED"
    assert horae.json("dead-letter", "replay", "--tag", "x") == {"sent": 0, "refused": 0}
    assert horae.json("forecast", "--hours", "1")["total"] == 12
    assert {one["kind"] for one in horae.json("health")["causes"]} == {"SHARDS_UNHELD"}, "no node runs here"
    assert horae.json("nodes", tenant="system")["cells_down"] == []
    assert horae.json("calendar", "list") == []
    assert len(horae.json("cell", "trust-clock", "--reason", "a test")) == 2
    assert {"action", "roles"} <= horae.json("key", "roles")[0].keys()


def test_a_rolling_set_is_made_filled_and_looked_at(horae):
    horae("migrate")
    url = "https://shop.example.com/refresh"
    made = horae.json("job", "create", "STOCK", "--rolling", "864000", "--url", url, "--rate", "20")
    assert (made["trigger"]["kind"], made["trigger"]["every"], made["target"]["rate"]) == ("rolling", 86400, 20)
    assert made["retry"]["max_failures"] == 1, "as where the API makes it: a subject comes again with its window"
    assert horae.json("subject", "add", "STOCK", "p-1", "p-2")["changed"] == 2
    assert horae.json("subject", "coverage", "STOCK")["subjects"] == 2
    assert [one["key"] for one in horae.json("subject", "list", "STOCK", "--prefix", "p-2")] == ["p-2"]
    assert [one["status"] for one in horae.json("subject", "list", "STOCK", "--status", "0")] == [0, 0]
    assert horae.json("subject", "list", "STOCK", "--batch", "0" * 32) == []
    assert [one["name"] for one in horae.json("job", "list", "--kind", "rolling")] == ["STOCK"]
    assert [one["name"] for one in horae.json("job", "list", "--order", "changed_at")] == ["STOCK"]
    assert horae.json("job", "list", "--kind", "cron") == []
    assert "--url" in horae("job", "create", "SLOW", "--rolling", "60", "--rate", "20", status=1)
    assert "rollin" in horae("job", "list", "--kind", "rollin", status=2)
    refused = horae("job", "create", "BOTH", "--rolling", "60", "--keyed", status=1)
    assert "one trigger" in refused


def test_jobs_have_people_and_are_listed_by_owner(horae):
    horae("migrate")
    people = ("--owner", "orders-team", "--contact", "orders-oncall", "--contact", "lead", "--late-after", "60")
    made = horae.json("job", "create", "a", "--cron", "@daily", "--description", "Closes orders.", *people)
    assert (made["owner"], made["contacts"], made["late_after"]) == ("orders-team", ["orders-oncall", "lead"], 60)
    horae("job", "create", "b", "--cron", "@daily")
    runbook = ("--runbook", "https://wiki.example.com/a", "--clear", "late_after")
    changed = horae.json("job", "people", "a", "--fail-after", "3", *runbook)
    assert (changed["fail_after"], changed["late_after"], changed["owner"]) == (3, None, "orders-team")
    assert "failing  after 3 failed runs in a row" in horae("job", "show", "a")
    assert [one["name"] for one in horae.json("job", "list", "--owner", "orders-team")] == ["a"]
    horae("job", "people", "a", status=2)
    horae("job", "people", "a", "--runbook", "http://wiki.example.com", status=1)


def test_jobs_are_labelled_compared_and_paused_and_keys_and_tenants_listed(horae):
    horae("migrate")
    horae("job", "create", "a", "--cron", "0 2 * * *")
    assert horae.json("job", "label", "a", "team=ops", "x=1")["labels"] == {"team": "ops", "x": "1"}
    assert horae.json("job", "label", "a", "x-")["version"] == 3
    assert [one["version"] for one in horae.json("job", "versions", "a")] == [3, 2, 1]
    assert horae("job", "diff", "a", "1", "2").startswith("+ labels: {")
    assert horae.json("job", "diff", "a", "2", "3")[0]["path"] == "labels.x"
    assert [one["name"] for one in horae.json("job", "list", "--label", "team=ops")] == ["a"]
    assert horae.json("job", "list", "--status", "PAUSED") == []
    assert horae.json("job", "pause", "a")["status"] == "PAUSED"
    made = horae.json("key", "create", "ci", "--role", "viewer")
    assert made["key"]
    found = {key["name"]: key for key in horae.json("key", "list")}
    assert (found.keys(), "key" in found["ci"]) == ({"ci", "cli-admin"}, False)
    assert "ci" in horae("key", "list")
    assert [one["name"] for one in horae.json("tenant", "list", tenant="system")] == ["default", "system"]
    assert horae.json("tenant", "pause", "default", tenant="system") == {"name": "default", "status": "PAUSED"}


def test_a_backfill_is_followed_to_its_end(horae):
    horae("migrate")
    with receiving() as receiver:
        horae("job", "create", "a", "--cron", "0 */5 * * * ?", "--url", f"{receiver.url}/a")
        range_ = ("--since", "2026-01-01T00:00:00+00:00", "--until", "2026-01-01T01:00:00+00:00")
        begun = horae.json("backfill", "start", "a", *range_, "--key", "k")
        horae("node", "--once")
        done = horae.json("backfill", "show", begun["id"], "--follow")
    assert (done["status"], done["waiting"], done["ended"]) == ("DONE", 0, {"SUCCESS": 12})


def test_the_status_of_a_command_says_what_was_wrong(horae, monkeypatch):
    horae("migrate")
    assert "SCH_404_NOT_FOUND" in horae("job", "show", "nothing", status=3)
    horae("job", "create", "a", "--cron", "@hourly")
    assert "SCH_409_NAME_TAKEN" in horae("job", "create", "a", "--cron", "@hourly", status=4)
    assert "SCH_422_INVALID" in horae("task", "put", "a", "k", "--payload", "{", status=1)
    assert "SCH_403_FORBIDDEN" in horae("job", "pause", "a", roles=("viewer",), status=1)
    horae("job", "label", "a", "neither", status=2)
    horae("job", "nonsense", status=2)
    assert "SCH_503_DISPATCHER_DOWN" in horae("job", "trigger", "a", "--key", "k", status=5)
    nobody = [{"name": "cell-0", "dsn": f"postgresql://nobody@127.0.0.1:{free_port()}/nothing"}]
    monkeypatch.setenv("HORAE_CELLS", json.dumps(nobody))
    assert re.search(r"no database answers; is it running, and is HORAE_DSN", horae("doctor", status=5))
    monkeypatch.setenv("HORAE_CELLS", "[]")
    monkeypatch.delenv("HORAE_DSN", raising=False)
    assert "horae dev" in horae("doctor", status=1)


def test_where_no_api_answers_or_none_is_chosen_it_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setenv("HORAE_CONTEXTS", str(tmp_path / "contexts.toml"))
    monkeypatch.setattr(remote, "PATIENCE", Retries(tries=1))
    monkeypatch.setenv("HORAE_URL", f"http://127.0.0.1:{free_port()}")
    monkeypatch.setenv("HORAE_KEY", "k")
    done = CliRunner().invoke(whole(), ["job", "list"])
    assert (done.exit_code, "no API answers at http://127.0.0.1:" in done.stderr) == (5, True), done.output
    monkeypatch.delenv("HORAE_KEY")
    assert "HORAE_KEY is not" in CliRunner().invoke(whole(), ["job", "list"]).stderr
    monkeypatch.delenv("HORAE_URL")
    done = CliRunner().invoke(whole(), ["job", "list"])
    assert (done.exit_code, "horae login" in done.stderr) == (1, True), done.output


def test_a_database_that_was_never_migrated_says_what_to_do(cluster, monkeypatch):
    name = f"empty_{os.getpid()}"
    asyncio.run(databases.make(cluster.dsn("postgres"), [name]))
    try:
        monkeypatch.setenv("HORAE_CELLS", json.dumps([{"name": "cell-0", "dsn": cluster.dsn(name)}]))
        done = CliRunner().invoke(whole(), ["key", "bootstrap", "--reason", "first key"])
        assert (done.exit_code, "horae migrate" in done.stderr) == (5, True), done.output
    finally:
        asyncio.run(databases.drop(cluster.dsn("postgres"), [name]))
