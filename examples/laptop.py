"""What the demos stand on: `horae dev` in a process of its own, a database for each business, their services.

Nothing of it belongs to the businesses: yours have a Horae, a database and a supervisor already.
"""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import psycopg

HERE = Path(__file__).parent
SECRET = "whsec_" + b64encode(os.urandom(32)).decode()  # a new one for every demonstration


class Laptop(NamedTuple):
    """Horae on this machine: its PostgreSQL, its API, a key."""

    dsn: str
    url: str
    key: str

    def database(self, name: str) -> str:
        """A new database of a business's own, in the same server as Horae's; returns its DSN."""
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            connection.execute(f"create database {name}")
        return urlsplit(self.dsn)._replace(path=f"/{name}").geturl()

    @property
    def env(self) -> dict[str, str]:
        """What a client looks for."""
        return {"HORAE_URL": self.url, "HORAE_KEY": self.key}


@contextmanager
def laptop() -> Iterator[Laptop]:
    """Horae with a PostgreSQL that is gone afterwards."""
    horae = Path(sys.executable).with_name("horae")
    command = [horae, "dev", "--fresh", "--no-samples", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True) as dev:
        try:
            told = json.loads(dev.stdout.readline())
            yield Laptop(told["dsn"], told["api"], told["key"])
        finally:
            dev.stdout.close()
            dev.terminate()


@contextmanager
def service(module: str, env: dict[str, str], port: int) -> Iterator[str]:
    """A web service of a business in a process of its own, once it answers; returns its URL."""
    words = ["--port", str(port), "--log-level", "warning"]
    with program(["uvicorn", f"{module}:app", *words], env) as running:
        url = f"http://127.0.0.1:{port}"
        while not _answers(url):
            if running.poll() is not None:
                raise SystemExit(f"{module} ended")
            time.sleep(0.05)
        yield url


@contextmanager
def program(words: Sequence[str], env: dict[str, str]) -> Iterator["subprocess.Popen[bytes]"]:
    """A Python module in a process of its own, asked to end afterwards."""
    path = os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")]))
    told = os.environ | {"PYTHONPATH": path} | env
    with subprocess.Popen([sys.executable, "-m", *words], env=told, start_new_session=True) as running:
        try:
            yield running
        finally:
            running.terminate()


def free_port() -> int:
    """One that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2):
            return True
    except urllib.error.HTTPError:  # "not found" is an answer, too
        return True
    except OSError:
        return False
