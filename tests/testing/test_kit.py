"""The kit that users test their schedules with, and its example."""

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest

from horae.domain.errors import Invalid
from horae.store.tx import Tx

ROOT = Path(__file__).parents[2]


def test_three_days_pass_and_these_calls_were_made_in_this_order(horae):
    horae.job("report", cron="0 2 * * *")
    horae.job("sync", every=86400, payload={"n": 1})
    horae.job("later", cron="0 2 * * *", paused=True)
    calls = horae.advance(days=3)
    assert [str(call) for call in calls if call.job == "report"] == [
        "2030-01-01 02:00:00 report",
        "2030-01-02 02:00:00 report",
        "2030-01-03 02:00:00 report",
    ]
    assert [call.job for call in calls] == ["report", "sync"] * 3
    assert all(call.at - call.fire_time < timedelta(seconds=30) for call in calls)
    assert calls[1].payload == {"n": 1}
    assert calls[0].path == "/report"
    assert horae.now >= datetime(2030, 1, 4, tzinfo=UTC)


def test_the_steps_of_a_graph_are_called_in_order_and_a_run_ends_at_its_deadline(horae):
    steps = [{"name": "extract"}, {"name": "load", "needs": ["extract"], "retry": {"max_failures": 1}}]
    horae.job("nightly", cron="0 2 * * *", run_deadline=7200, steps=[*steps, {"name": "report", "needs": ["load"]}])
    calls = horae.advance(days=1)
    assert [str(call) for call in calls] == [
        f"2030-01-01 02:00:00 nightly/{step}" for step in ("extract", "load", "report")
    ]
    assert [call.path for call in calls] == ["/nightly/extract", "/nightly/load", "/nightly/report"]
    horae.answers["nightly/load"] = 400
    assert [call.job for call in horae.advance(days=1)] == ["nightly/extract", "nightly/load"]
    ended = {row.fire_time.day: (row.state, row.changed_at.replace(microsecond=0)) for row in horae.history("nightly")}
    assert ended[1][0] == "SUCCESS"
    assert ended[2] == ("DEAD", datetime(2030, 1, 2, 4, tzinfo=UTC)), "blocked until its deadline, two hours later"


def test_a_worker_of_a_test_serves_a_step(horae):
    horae.apply({"jobs": {"nightly": {"steps": [{"name": "extract"}, {"name": "load", "needs": ["extract"]}]}}})
    horae.worker("nightly.extract")(lambda call: None)
    horae.worker("nightly.load")(lambda call: None)
    horae.trigger("nightly")
    assert [call.job for call in horae.settle()] == ["nightly/extract", "nightly/load"]


STATEMENTS_A_FIRE = 12
CALLS_A_FIRE = 6000


class CallCounter:
    """Counts calls of Python functions in the loop of the kit: the speed of the machine changes nothing."""

    def __init__(self, horae):
        self.calls = 0
        self._run = horae._background.run

    def __enter__(self):
        self._run(self._set(self._count))
        return self

    def __exit__(self, *exc):
        self._run(self._set(None))

    async def _set(self, profile):
        sys.setprofile(profile)

    def _count(self, _frame, event, _of):
        self.calls += event == "call"


def test_an_hour_with_60_fires_costs_a_bounded_number_of_calls_and_twelve_statements_a_fire(horae, monkeypatch, capfd):
    """Counted: seconds, also those of the processor, are twice as long on a machine that others use."""
    statements = []
    run = Tx._run_in_time

    async def counted(self, call):
        statements.append(call)
        return await run(self, call)

    horae.job("minutely", every=60)
    horae.advance(minutes=1)
    monkeypatch.setattr(Tx, "_run_in_time", counted)
    with CallCounter(horae) as counter:
        calls = horae.advance(hours=1)
    assert [call.fire_time.minute for call in calls] == [*range(2, 60), 0, 1]
    assert len(statements) <= STATEMENTS_A_FIRE * len(calls)
    assert counter.calls <= CALLS_A_FIRE * len(calls)
    assert "partitions.running_out" not in "".join(capfd.readouterr())


def test_seed_002_example_2_failures_are_retried_as_time_passes_and_end_as_dead(horae):
    horae.job("once", trigger={"kind": "once", "at": "2030-01-01T01:00:00Z"})
    horae.answers["once"] = 503
    calls = horae.advance(hours=2)
    assert [call.attempt for call in calls] == [1, 2, 3, 4, 5, 6]
    [past] = horae.history("once")
    assert past.state == "DEAD"


def test_workers_of_the_test_take_what_waits_in_their_queue(horae):
    horae.job("audit", trigger={"kind": "keyed"}, target={"kind": "queue", "name": "audits"})
    seen = []

    @horae.worker("audits")
    def audit(call):
        seen.append(call.key)
        if call.attempt == 1:
            raise RuntimeError("not yet")

    horae.task("audit", "a", at="2030-01-01T01:00:00Z", payload={"x": 1})
    assert horae.advance(minutes=59) == []
    [first, second] = horae.advance(minutes=2)
    assert (first.attempt, second.attempt, second.payload) == (1, 2, {"x": 1})
    assert seen == ["a", "a"]


@pytest.mark.horae(at="2031-06-01T00:00:00Z", cells=2)
def test_it_works_over_two_cells_and_its_doors_are_real(horae):
    horae.job("publish", trigger={"kind": "keyed"})
    for n in range(6):
        horae.task("publish", str(n), at=f"2031-06-01T0{n}:30:00Z")
    headers = {"Authorization": f"Bearer {horae.key}"}
    assert httpx2.get(f"{horae.url}/api/v1/jobs/publish", headers=headers).json()["status"] == "ACTIVE"
    assert [call.key for call in horae.advance(hours=6)] == list("012345")


def test_a_file_is_applied_with_its_targets_near_and_nonsense_is_refused(horae):
    words = {"cron": "0 3 * * *", "target": {"kind": "http", "url": "https://far.example.com/x/y?z=1"}}
    horae.apply({"jobs": {"far": words}})
    [call] = horae.advance(days=1)
    assert call.path == "/x/y"
    horae.trigger("far")
    assert [call.job for call in horae.settle()] == ["far"]
    with pytest.raises(Invalid, match="cron"):
        horae.apply({"jobs": {"bad": {"cron": "nonsense"}}})
    with pytest.raises(Invalid, match="forward"):
        horae.advance_to("2029-01-01")


def test_the_example_of_the_documentation_runs(tmp_path):
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "horae_client.testing.plugin",
        "-p",
        "no:cacheprovider",
        "-c",
        os.devnull,
    ]
    folder = ROOT / "examples" / "testing"
    done = subprocess.run(
        [*words, "--rootdir", folder, folder], check=False, cwd=tmp_path, capture_output=True, text=True, timeout=110
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout
