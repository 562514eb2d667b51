"""The skeleton walked from the command line, in processes of its own, as a person would."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.boot.conftest import OVER_POSTGRESQL
from tests.receiver import receiving

HORAE = Path(sys.executable).parent / "horae"


@pytest.fixture
def horae(cells, api):
    environment = os.environ | {
        "HORAE_CELLS": json.dumps([{"name": cell.name, "dsn": cell.dsn} for cell in cells]),
        "HORAE_ENVIRONMENT": "test",
    }

    def call(*words, check=True):
        if words[0] not in OVER_POSTGRESQL:
            environment.update({"HORAE_URL": api.url, "HORAE_KEY": api.key()})
        done = subprocess.run([HORAE, *words], check=False, env=environment, capture_output=True, text=True, timeout=60)
        assert not check or done.returncode == 0, done.stderr
        return done.stdout if check else (done.returncode, done.stderr)

    call.environment = environment
    return call


def test_a_job_and_a_task_are_created_fire_over_http_and_show_in_the_history(horae):
    with receiving() as receiver:
        assert "tenant default created" in horae("migrate")
        assert horae("migrate") == "nothing to do\n"
        created = horae("job", "create", "coupon_job", "--cron", "0 */5 * * * ?", "--url", f"{receiver.url}/coupon")
        assert "dialect=spring6 zone=UTC" in created
        assert len(re.findall(r"\d\d:\d[05]:00 UTC", created)) == 5
        horae("job", "create", "ARTICLE_PUBLISH", "--keyed", "--url", f"{receiver.url}/publish")
        assert horae("task", "put", "ARTICLE_PUBLISH", "42", "--at", "2026-01-01T09:00:00+08:00").startswith("created")
        assert horae("task", "put", "ARTICLE_PUBLISH", "42", "--at", "2026-01-01T10:00:00+08:00").startswith("moved")
        horae("cell", "move-clock", "300", "--reason", "a test")
        horae("node", "--once")
        assert sorted(call["job"] for call in receiver.calls) == ["ARTICLE_PUBLISH", "coupon_job"]
        assert "SUCCESS" in horae("history", "coupon_job")
        assert "2026-01-01 02:00:00" in horae("history", "ARTICLE_PUBLISH")
        assert horae("task", "put", "ARTICLE_PUBLISH", "42") == "ignored because succeeded\n"
        shown = horae("task", "show", "ARTICLE_PUBLISH", "42")
        assert re.findall(r"created|moved|ignored", shown) == ["created", "moved", "ignored"]


def test_a_test_request_reaches_the_target_and_fires_nothing(horae):
    with receiving() as receiver:
        horae("migrate")
        horae("job", "create", "report", "--cron", "@daily", "--url", f"{receiver.url}/report")
        assert "success: answered 200" in horae("job", "test", "report", "--payload", '{"n": 1}')
        assert receiver.headers[0]["horae-test"] == "true"
        assert receiver.calls[0]["payload"] == {"n": 1}
        receiver.answers["/report"] = [404]
        status, _ = horae("job", "test", "report", check=False)
        assert status == 1
        assert horae("history", "report") == "report has not fired yet\n"


def test_refusals_are_told_with_their_code_and_a_status(horae):
    horae("migrate")
    status, said = horae("job", "create", "bad", "--cron", "0 0 30 2 *", check=False)
    assert (status, said.split()[0]) == (1, "SCH_422_SCHEDULE")
    status, said = horae("history", "nothing", check=False)
    assert (status, said.split()[0]) == (3, "SCH_404_NOT_FOUND")
    horae("job", "create", "a", "--cron", "@hourly")
    status, said = horae("job", "trigger", "a", "--key", "k", check=False)
    assert (status, said.split()[0]) == (5, "SCH_503_DISPATCHER_DOWN")


def test_a_person_vouches_for_a_clock_in_one_cell_or_all(horae):
    horae("migrate")
    why = ("--reason", "NTP was repaired")
    assert re.findall(r"(cell-\d): .* is trusted", horae("cell", "trust-clock", *why)) == ["cell-0", "cell-1"]
    assert horae("cell", "trust-clock", "cell-1", *why).startswith("cell-1")
    status, said = horae("cell", "trust-clock", "nowhere", *why, check=False)
    assert (status, said.split()[0]) == (3, "SCH_404_NOT_FOUND")


def test_dead_letters_are_listed_replayed_and_discarded(horae):
    with receiving() as receiver:
        receiver.answers |= {f"/{n}": [404] for n in range(2)}
        horae("migrate")
        for n in range(2):
            horae("job", "create", f"job-{n}", "--after", "0", "--url", f"{receiver.url}/{n}")
        horae("node", "--once")
        shown = horae("dead-letter", "list", "--error-code", "HTTP_4XX", "--status", "NEW")
        [one, two] = re.findall(r"ins_\w{26}", shown)
        assert horae("dead-letter", "discard", one) == f"{one} discarded\n"
        assert (
            horae("dead-letter", "replay", "--tag", "transient_error", "--limit", "5000") == "0 replayed, 0 refused\n"
        )
        assert re.fullmatch(r"replayed as ins_\w{26}\n", horae("dead-letter", "replay", two))


def test_a_node_runs_until_told_and_hands_its_shards_back(horae):
    with receiving() as receiver:
        horae("migrate")
        horae("job", "create", "soon", "--after", "0", "--url", f"{receiver.url}/soon")
        with subprocess.Popen([HORAE, "node"], env=horae.environment, stderr=subprocess.PIPE, text=True) as node:
            try:
                for line in node.stderr:
                    if "node.started" in line:
                        break
                assert receiver.arrived.wait(60), "the fire did not arrive"
            finally:
                node.send_signal(signal.SIGTERM)
                tail = node.stderr.read()
                assert node.wait(60) == 0
        assert "node.stopped" in tail
        status, said = horae("job", "trigger", "soon", "--key", "k", check=False)
        assert (status, said.split()[0]) == (5, "SCH_503_DISPATCHER_DOWN")
