"""`horae dev` as a newcomer runs it: a process of its own, nothing configured, ended with Ctrl-C."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from horae.boot.dev import api_server
from tests.cluster import free_port
from tests.slowness import slowness
from tests.steps import query

BIN = Path(sys.executable).parent
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("HORAE_", "PG"))}
ENVIRONMENT = CLEAN | {"PATH": f"{BIN}:{os.environ['PATH']}", "PGPORT": str(free_port()), "TZ": "Asia/Shanghai"}
MAX_CPU_S = 10
"""Processor time of the command until the first fire: half a minute on a slow machine, and no busy neighbour counts."""


class Running:
    """What it has said so far, and what that cost."""

    def __init__(self, process):
        self.process = process
        self.said = ""

    def until(self, *patterns):
        """Read on until every pattern was said."""
        for pattern in patterns:
            while not re.search(pattern, self.said, re.MULTILINE):
                line = self.process.stdout.readline()
                assert line, f"it ended without {pattern}:\n{self.said}"
                self.said += line

    def cpu_s(self):
        """The seconds of processor time that the command has used so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def command(self):
        """The command it offers for another terminal."""
        self.until(r"try +HORAE_URL=")
        return re.search(r"HORAE_URL=\S+ HORAE_KEY=\S+ horae job list", self.said)[0]

    def ask(self):
        """What the API answers to the question it offers for another terminal."""
        self.until(r"or +curl .*$")
        key, url = re.search(r"curl -H 'Authorization: Bearer (\S+)' (\S+)$", self.said, re.MULTILINE).groups()
        return httpx2.get(url, headers={"Authorization": f"Bearer {key}"}).text


@contextmanager
def horae_dev(*words, **environment):
    with subprocess.Popen(
        [BIN / "horae", "dev", *words],
        env=ENVIRONMENT | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            yield Running(process)
        finally:
            process.send_signal(signal.SIGINT)
            rest = process.stdout.read()
            assert process.wait(60) == 0, rest


@pytest.fixture
def folder():
    """Short enough for a socket, and open to the user that PostgreSQL runs as."""
    folder = Path(tempfile.mkdtemp(prefix="horae-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def shell(command):
    done = subprocess.run(command, shell=True, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_newcomer_soon_sees_fire_retry_reschedule_and_success(folder):
    with horae_dev("--fresh", TMPDIR=str(folder)) as running:
        running.until(r"^\d\d:\d\d:\d\d ✓ every-five +delivered in .* \(due \+[\d.]+ m?s\)$")
        assert running.cpu_s() / slowness() < MAX_CPU_S
        running.until(
            r"→ publish/article-3 +created, due at \d\d:\d\d:\d\d$",
            r"→ publish/article-3 +moved, due at \d\d:\d\d:\d\d$",
            r"↻ flaky +answered 503 in .*, attempt 2 follows in about 1\.\d s",
            r"✓ flaky +delivered in .*, attempt 3",
            r"✓ publish/article-3 +delivered",
        )
        assert "every-five" in shell(running.command())
    assert list(folder.iterdir()) == [], "a throw-away database leaves nothing behind"


def test_a_kept_database_has_what_was_made_before_and_no_samples_left(folder):
    data = folder / "dev"
    with horae_dev("--data", str(data)) as running:
        made = running.command()
        running.until("→ publish/article-3 +moved")
        assert '"name":"every-five"' in running.ask()
        shell(made.replace("job list", "job create mine --cron '0 9 * * *'"))
    assert not list(data.glob(".s.PGSQL*")), "its PostgreSQL has ended"
    with horae_dev("--data", str(data), "--no-samples") as running:
        listed = shell(running.command())
        assert "mine" in listed
        assert "every-five" not in listed


def test_closing_its_terminal_leaves_nothing_behind(folder):
    """TRIAL 3.10: PostgreSQL went on, with its folder and a file with a key."""
    env = folder / "try.env"
    with horae_dev("--fresh", "--env", str(env), TMPDIR=str(folder)) as running:
        running.until("→ publish/article-3 +moved")
        assert "HORAE_KEY" in env.read_text()
        running.process.send_signal(signal.SIGHUP)
        running.process.send_signal(signal.SIGHUP)  # the kernel's and the shell's
        running.process.stdout.read()
        assert running.process.wait(60) == 0
    assert list(folder.iterdir()) == []


async def test_it_works_on_the_cells_it_is_given_but_never_on_productions(cells, store):
    given = json.dumps([{"name": cell.name, "dsn": cell.dsn} for cell in cells])
    await query(store, "update cell set environment = 'dev'")
    with horae_dev(HORAE_CELLS=given) as running:
        running.until("✓ every-five +delivered")
        assert cells[0].dsn not in running.said, "a DSN may hold a password"
    await query(store, "update cell set environment = 'production'")
    done = subprocess.run(
        [BIN / "horae", "dev"], env=ENVIRONMENT | {"HORAE_CELLS": given}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr.split()[0]) == (4, "SCH_409_CONFLICT"), done.stderr


def test_the_doors_take_the_next_port_where_someone_listens_already():
    with socket.create_server(("127.0.0.1", 0), reuse_port=True) as taken:
        port = taken.getsockname()[1]
        assert api_server.free_port("127.0.0.1", port) != port


def test_the_stream_shows_what_a_worker_finishes(folder):
    """TRIAL 1.4: the one job that the README makes could not be seen."""
    with horae_dev("--fresh", "--no-samples", TMPDIR=str(folder)) as running:
        made = running.command()
        running.until(r"or +curl .*$")
        key, url = re.search(r"Bearer (\S+)' (\S+)/api/v1/jobs$", running.said, re.MULTILINE).groups()
        shell(made.replace("job list", "job create hello --cron '* * * * * *'"))
        example = Path(__file__).parents[2] / "examples" / "start" / "worker.py"
        with subprocess.Popen(
            [sys.executable, example], env=ENVIRONMENT | {"HORAE_URL": url, "HORAE_KEY": key}, stdout=subprocess.DEVNULL
        ) as worker:
            running.until(r"✓ hello +finished by worker \S+ in .* \(due \+")
            worker.terminate()
