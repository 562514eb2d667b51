"""deploy/compose, run for real: two nodes fire at a target, and the container of each node is killed in its turn.

PostgreSQL and Prometheus are Debian's, in images that take the settings of the official ones. Grafana is not run.
"""

import json
import os
import shutil
import signal
import sys
import time
import urllib.request
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.cluster import free_port
from tests.deploy.containers import IMAGE, ROOT, STAND_INS, Podman

PROJECT = "horae-test"
FIRES = 5
"""Fires that are waited for before and after each kill."""
WAIT_S = 600
JOB = {
    "name": "every-second",
    "cron": "* * * * * *",
    "dialect": "spring6",
    "target": {"kind": "http", "url": "http://target:8080/"},
    "policies": {"misfire": {"policy": "all"}},
}
NODES = (f"{PROJECT}_node_1", f"{PROJECT}_node_2")
HORAE = (*NODES, f"{PROJECT}_api_1")


class Compose:
    """A copy of deploy/compose with secrets of its own, on free ports."""

    def __init__(self, podman: Podman, folder: Path, images: dict[str, str]) -> None:
        self.podman = podman
        self.folder = Path(shutil.copytree(ROOT / "deploy", folder / "deploy")) / "compose"
        api, prometheus, target = (f"127.0.0.1:{free_port()}" for _ in range(3))
        self.api, self.prometheus, self.target = f"http://{api}", f"http://{prometheus}", f"http://{target}"
        self.variables = images | {
            "HORAE_PUBLISH": api,
            "PROMETHEUS_PUBLISH": prometheus,
            "TARGET_PUBLISH": target,
            "TARGET_PROGRAM": str(STAND_INS / "target.py"),
        }
        podman.run("./make-secrets", folder=self.folder)

    def __call__(self, *words: str) -> str:
        program = Path(sys.executable).with_name("podman-compose")
        files = ("compose.yaml", "podman.yaml", STAND_INS / "target.yaml")
        named = [word for file in files for word in ("-f", file)]
        return self.podman.run(
            program, "--project-name", PROJECT, *named, *words, folder=self.folder, env=self.variables
        )

    def command(self, *words: str) -> Any:
        """The answer of a command that opens the database itself."""
        return json.loads(self("--profile", "cli", "run", "--rm", "-T", "cli", *words, "--json").splitlines()[-1])


def fetch(url: str, key: str = "", body: Any = None) -> Any:
    """The JSON of an answer; raises if there is none, or if its status is not 2xx."""
    headers = {"Content-Type": "application/json", "Idempotency-Key": "once", "Authorization": f"Bearer {key}"}
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=30) as answer:
        return json.loads(answer.read())


def wait_until(what: str, look: Callable[[], Any]) -> Any:
    """Returns what `look` finds, and looks until it finds something: nobody tells us when containers have started."""
    ends, last = time.monotonic() + WAIT_S, None
    while time.monotonic() < ends:
        try:
            if found := look():
                return found
        except (OSError, ValueError, RuntimeError) as error:
            last = error
        time.sleep(0.5)
    raise AssertionError(f"{what}: not within {WAIT_S} s ({last})")


def all_seconds(fire_times: list[str]) -> set[str]:
    """Every second from the first fire to the last."""
    first, last = (datetime.fromisoformat(one) for one in (min(fire_times), max(fire_times)))
    seconds = int((last - first).total_seconds())
    return {(first + timedelta(seconds=n)).strftime("%Y-%m-%dT%H:%M:%SZ") for n in range(seconds + 1)}


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_two_nodes_fire_and_each_container_that_is_killed_is_replaced_without_a_lost_fire(
    podman: Podman, tmp_path, record_property
):
    images = {
        "HORAE_IMAGE": IMAGE,
        "POSTGRES_IMAGE": podman.build_stand_in("postgresql", "postgresql-15"),
        "PROMETHEUS_IMAGE": podman.build_stand_in("prometheus", "prometheus"),
    }
    compose = Compose(podman, tmp_path, images)
    began = time.monotonic()
    compose("up", "--detach")
    wait_until("the API", lambda: fetch(f"{compose.api}/readyz"))
    key = compose.command("key", "bootstrap", "--reason", "installed")["key"]
    wait_until(
        "two nodes",
        lambda: sum(one["alive"] for one in fetch(f"{compose.api}/api/v1/nodes", key)["nodes"]) == len(NODES),
    )
    record_property("seconds_to_two_nodes_and_api", round(time.monotonic() - began, 1))
    with urllib.request.urlopen(f"{compose.api}/console/", timeout=30) as page:
        assert b"<script" in page.read()

    fetch(f"{compose.api}/api/v1/jobs", key, JOB)
    for node in NODES:
        wait_for_fires(compose)
        kill(podman, node)
        wait_until(f"{node} again", lambda name=node: state(podman, name)["Running"])
        wait_for_fires(compose)
    due = all_seconds(fetch(compose.target))
    wait_until("a fire for every second", lambda: due <= set(fetch(compose.target)))
    fire_times = fetch(compose.target)
    record_property("fires", len(set(fire_times)))
    record_property("sent_twice", len(fire_times) - len(set(fire_times)))

    for container in HORAE:
        wait_until(f"{container} is well", lambda name=container: podman("healthcheck", "run", name) == "")
        [found] = json.loads(podman("inspect", container))
        assert found["HostConfig"]["ReadonlyRootfs"]
        assert not found["EffectiveCaps"]
    wait_until("Prometheus", lambda: scraped(compose) >= len(HORAE))
    assert fetch(f"{compose.prometheus}/api/v1/rules")["data"]["groups"]
    compose("down", "--volumes")


def wait_for_fires(compose: Compose) -> None:
    """Wait for some fires more than there are now."""
    before = len(set(fetch(compose.target)))
    wait_until("more fires", lambda: len(set(fetch(compose.target))) >= before + FIRES)


def state(podman: Podman, container: str) -> dict[str, Any]:
    [found] = json.loads(podman("inspect", container))
    return found["State"]


def kill(podman: Podman, container: str) -> None:
    """End the process of a container as a crash does; its restart policy, and nobody else, replaces it."""
    pid = state(podman, container)["Pid"]
    os.kill(pid, signal.SIGKILL)
    wait_until(f"the end of {container}", lambda: state(podman, container)["Pid"] != pid)


def scraped(compose: Compose) -> int:
    """How many processes Prometheus reaches."""
    found = fetch(f"{compose.prometheus}/api/v1/query?query=up==1")["data"]["result"]
    return sum(one["metric"]["job"].startswith("horae-") for one in found)
