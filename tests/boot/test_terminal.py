"""What a person at a terminal has of the API: names that Tab completes, and lists that go on with `--follow`.

The API and each command are processes of their own.
"""

import json
import signal
import subprocess
from contextlib import contextmanager

import pytest

from horae_client import Client
from tests.api.api_servers import CLEAN, SECRET
from tests.boot.conftest import HORAE
from tests.cluster import free_port
from tests.keyring import keyring

START_S = 60
INTERRUPTED = 130
"""The exit code of a command that Ctrl-C ended."""


@pytest.fixture
def access(cells):
    """The environment of a person with a key of the tenant `system`, while `horae api` runs."""
    told = {"HORAE_CELLS": json.dumps([cell.model_dump() for cell in cells]), "HORAE_ENVIRONMENT": "test"}
    environment = CLEAN | told | {"HORAE_API_SECRET": SECRET, "HORAE_KEYRING": str(keyring())}
    words = [HORAE, "key", "bootstrap", "--reason", "a test", "--json"]
    made = subprocess.run(words, env=environment, capture_output=True, text=True, check=True, timeout=START_S)
    with running(environment, "api", "--port", "0") as api:
        url = api.stdout.readline().split()[-1]
        yield CLEAN | {"HORAE_URL": url, "HORAE_KEY": json.loads(made.stdout)["key"], "COLUMNS": "200"}


@contextmanager
def running(environment, *words):
    """A command during the block; it is ended by SIGINT, as Ctrl-C does."""
    environment = environment | {"PYTHONUNBUFFERED": "1"}
    with subprocess.Popen([HORAE, *words], env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(START_S)


def complete(environment, *words):
    """What bash offers after these words, when Tab is pressed in the last one."""
    asked = {"_HORAE_COMPLETE": "complete_bash", "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    done = subprocess.run(
        [HORAE], env=environment | asked, capture_output=True, text=True, check=False, timeout=START_S
    )
    assert done.stderr == "", "a shell would show it in the middle of a line"
    return done.stdout.split()


def test_names_of_jobs_and_queues_are_completed_from_the_server(access):
    with Client(access["HORAE_URL"], access["HORAE_KEY"]) as client:
        for name in ("coupon", "counter", "nightly"):
            client.jobs.create(name, cron="@daily", target={"kind": "queue", "name": f"q-{name}"})
    assert complete(access, "horae", "job", "show", "cou") == ["counter", "coupon"]
    assert complete(access, "horae", "history", "") == ["counter", "coupon", "nightly"]
    assert complete(access, "horae", "worker", "list", "--queue", "q-n") == ["q-nightly"]
    silent = access | {"HORAE_URL": f"http://127.0.0.1:{free_port()}"}
    assert complete(silent, "horae", "job", "show", "cou") == [], "where no API answers nothing is offered"
    assert complete(access | {"HORAE_KEY": "wrong"}, "horae", "job", "show", "cou") == []


def test_a_followed_list_prints_each_new_item_once_until_it_is_interrupted(access):
    with Client(access["HORAE_URL"], access["HORAE_KEY"]) as client:
        client.jobs.create("T", trigger={"kind": "keyed"})
        added = [add(client, "first")]
        for words in ("history T", "instance list", "audit list --action job.created"):
            field = "resource" if words.startswith("audit") else "key"
            with running(access, *words.split(), "--follow", "--json") as process:
                seen = read_until(process, field, added[-1][field])
                added.append(add(client, f"after {words[0]}"))
                seen += read_until(process, field, added[-1][field])
            assert seen.count(added[0][field]) == 1, words
            assert process.returncode == INTERRUPTED, words


def add(client, name):
    """Create a job and a task. Returns how lists name them."""
    client.tasks.schedule("T", name)
    return {"key": name, "resource": client.jobs.create(name, cron="@daily").id}


def read_until(process, field, wanted):
    """The values of a field in the lines of a command, up to the wanted one."""
    found = []
    for line in process.stdout:
        found.append(json.loads(line)[field])
        if found[-1] == wanted:
            return found
    raise AssertionError(f"it ended after {found}")
