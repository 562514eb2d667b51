"""Logs go to where standard error is now, not to where it was when logs were set up."""

import io
import json
import sys
from uuid import UUID

import pytest

from horae.domain.ids import Prefix, public
from horae.runtime import telemetry
from horae.runtime.telemetry import log


def test_a_stream_that_was_replaced_and_closed_hurts_nobody(monkeypatch):
    first, second = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stderr", first)
    telemetry.configure(as_json=True)
    log.info("before")
    monkeypatch.setattr(sys, "stderr", second)
    first_lines = first.getvalue()
    first.close()
    log.info("after")
    assert '"event": "before"' in first_lines
    assert '"event": "after"' in second.getvalue()


@pytest.fixture
def lines(capsys):
    """Reads what was logged so far, as JSON lines; no process is named afterwards."""
    telemetry.configure(as_json=True)
    found = []

    def read():
        found.extend(json.loads(line) for line in capsys.readouterr().err.splitlines())
        return found

    yield read
    telemetry.identify()


def fail():
    raise ValueError("no")


def fail_elsewhere():
    raise ValueError("no")


def log_failure(of, event="duty.failed", **facts):
    try:
        of()
    except ValueError:
        log.exception(event, **facts)


def test_an_error_has_one_traceback_in_an_hour_for_each_cause(lines, monkeypatch):
    now = 1000.0
    monkeypatch.setattr(telemetry, "boottime", lambda: now)
    before = telemetry.counts[telemetry.REPEATED]
    for number in range(42):
        log_failure(fail, number=number)
    log_failure(fail_elsewhere)
    log_failure(fail, "other.failed")
    assert [(line["event"], line.get("number")) for line in lines()] == [
        ("duty.failed", 0),
        ("duty.failed", None),
        ("other.failed", None),
    ]
    assert all("Traceback" in line["exception"] for line in lines())
    now += telemetry.TRACEBACK_INTERVAL_S
    log_failure(fail)
    assert (lines()[-1]["repeated"], "Traceback" in lines()[-1]["exception"]) == (41, True)
    assert telemetry.counts[telemetry.REPEATED] - before == 41


def test_an_error_that_was_caught_elsewhere_is_the_same_cause(lines):
    try:
        fail()
    except ValueError as error:
        kept = error
    for _ in range(3):
        log.error("call.failed", exc_info=kept)
    log.error("call.failed", reason="without an error every line is written")
    log.error("call.failed", reason="without an error every line is written")
    assert len(lines()) == 3


def test_the_memory_of_causes_is_bounded(monkeypatch):
    monkeypatch.setattr(telemetry, "MAX_KNOWN_CAUSES", 3)
    repeated = telemetry.RepeatedErrors()
    for number in range(10):
        repeated(None, "error", {"event": f"e.{number}", "exc_info": ValueError()})
    assert len(repeated._known) == 3


def test_every_line_names_its_process_and_shows_ids_as_the_api_does(lines):
    id_ = UUID("0190a8f0-0000-7abc-8000-000000000001")
    telemetry.identify(node=id_)
    log.info("node.started")
    log.error("call.overdue", instance=str(id_), tenant=id_, job="mail")
    [first, second] = lines()
    assert first["node"] == second["node"] == public(Prefix.NODE, id_)
    assert second["instance"] == public(Prefix.INSTANCE, id_)
    assert (second["tenant"], second["job"]) == (public(Prefix.TENANT, id_), "mail")
    assert second["trace_id"] == id_.hex
    telemetry.identify(api="host/7")
    log.info("api.started")
    assert (lines()[-1]["api"], "node" in lines()[-1]) == ("host/7", False)
