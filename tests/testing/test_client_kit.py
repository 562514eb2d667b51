"""The test kit of the client package: its server is another process, and nothing of the server is imported."""

import subprocess
import sys

import pytest

from horae_client import Step, errors
from horae_client.testing import serving
from horae_client.testing.process import ServerProcess

FOREIGN = ("horae", "asyncpg", "fastapi", "pydantic", "cryptography", "uvloop", "yaml")
"""Top-level packages that the server needs and the client must not load."""
BEGIN = "2030-01-01T00:00:00Z"


@pytest.fixture(scope="module")
def process():
    with ServerProcess() as process:
        yield process


@pytest.fixture
def server(process):
    with serving(BEGIN, on=process) as server:
        yield server


@pytest.mark.parametrize("module", ["horae_client.schedules", "horae_client.testing", "horae_client.testing.plugin"])
def test_importing_it_loads_nothing_of_the_server(module):
    code = f"import sys, {module}; print([name for name in {FOREIGN!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_steps_of_a_graph_are_called_in_order(server):
    steps = [Step("extract"), {"name": "load", "needs": ["extract"]}]
    job = server.job("nightly", cron="0 2 * * *", steps=steps)
    assert [step.name for step in job.steps] == ["extract", "load"]
    assert [call.path for call in server.advance(days=1)] == ["/nightly/extract", "/nightly/load"]
    [run] = server.client.graphs.runs("nightly")
    assert [step.state for step in server.client.graphs.run(run.id).steps] == ["SUCCESS", "SUCCESS"]


def test_an_hour_with_sixty_fires_is_moved_from_event_to_event(server):
    server.job("minutely", cron="* * * * *")
    calls = server.advance(hours=1)
    assert [str(call) for call in calls[:2]] == ["2030-01-01 00:01:00 minutely", "2030-01-01 00:02:00 minutely"]
    assert len(calls) == 60
    assert {(call.path, call.method, call.status) for call in calls} == {("/minutely", "POST", 200)}
    assert [run.state for run in server.history("minutely", limit=2)] == ["SUCCESS", "SUCCESS"]


def test_answers_of_the_test_are_the_answers_of_the_target(server):
    server.job("report", cron="0 2 * * *")
    server.job("other", cron="0 2 * * *")
    server.answers["report"] = [503, 200]
    server.answers["/other"] = lambda call: 200 if call.attempt > 1 else 500
    calls = server.advance(days=1)
    assert sorted((call.job, call.attempt, call.status) for call in calls) == [
        ("other", 1, 500),
        ("other", 2, 200),
        ("report", 1, 503),
        ("report", 2, 200),
    ]


def test_a_worker_is_a_function_of_the_test_and_its_exception_a_failed_attempt(server):
    server.apply({"defaults": {"target": {"kind": "queue", "name": "q"}}, "jobs": {"tidy": {"cron": "0 3 * * *"}}})
    seen = []

    @server.worker("q")
    def tidy(call):
        seen.append(call.attempt)
        if call.attempt == 1:
            raise ValueError("not yet")

    server.advance(days=1)
    assert seen == [1, 2]
    [run] = server.history("tidy")
    assert run.state == "SUCCESS"


def test_tasks_triggers_and_files_go_through_the_api_at_the_time_of_the_test(server, tmp_path):
    file = tmp_path / "jobs.yaml"
    file.write_text(
        "jobs: {publish: {trigger: {kind: keyed}, target: {kind: http, url: 'https://far.example.com/x/y'}}}"
    )
    server.apply(file)
    server.task("publish", "article-42", at="2030-01-01T09:00:00Z")
    moved = server.task("publish", "article-42", at="2030-01-01T10:00:00Z")
    assert moved.decision == "moved"
    [call] = server.advance(days=1)
    assert (str(call), call.path) == ("2030-01-01 10:00:00 publish/article-42", "/x/y")
    server.job("by_hand")
    server.trigger("by_hand", payload={"n": 1})
    [call] = server.settle()
    assert (call.job, call.payload) == ("by_hand", {"n": 1})
    assert server.client.jobs.get("by_hand").status == "ACTIVE"


def test_what_cannot_be_done_is_refused_as_the_api_refuses_it(server):
    with pytest.raises(errors.Invalid, match="cron"):
        server.apply({"jobs": {"bad": {"cron": "nonsense"}}})
    with pytest.raises(errors.Invalid, match="forward"):
        server.advance_to("2029-01-01")


def test_each_server_of_a_process_is_fresh(process):
    for _ in range(2):
        with serving("2031-05-01T00:00:00Z", on=process) as server:
            assert list(server.client.jobs.list()) == []
            assert server.now.isoformat() == "2031-05-01T00:00:00+00:00"
            server.job("report", cron="0 2 * * *")


def test_an_interpreter_without_the_server_is_told_what_to_install(tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    with ServerProcess(str(python)) as process, pytest.raises(RuntimeError, match="is the package `horae` installed"):
        process.run("open", at=None, cells=1)
