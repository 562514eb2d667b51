"""Real brokers for tests, each in a temporary folder and on a free port; killed, restarted and wiped by its own pid."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from horae.runtime.settings import BrokerSettings

ROOT = Path(__file__).parents[2]
JARS = ROOT / ".venv" / "kafka"
PATIENCE = 90


class Broker:
    """One server. `settings` is how a deployment names it."""

    kind = ""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_ports()
        self.pid = 0

    @property
    def url(self) -> str:
        raise NotImplementedError

    @property
    def settings(self) -> BrokerSettings:
        return BrokerSettings.model_validate({"kind": self.kind, "url": self.url})

    def start(self) -> None:
        raise NotImplementedError

    def ready(self) -> bool:
        return answers(self.port)

    def await_ready(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while not self.ready():
            assert time.monotonic() < deadline, f"{self.kind} was not ready: {self.log()}"
            time.sleep(0.05)

    def kill(self) -> None:
        """At once, as a power cut does."""
        end(self.pid, signal.SIGKILL)

    def restart(self) -> None:
        self.start()
        self.await_ready()

    def wipe(self) -> None:
        """Everything it held is gone."""
        shutil.rmtree(self.folder / "data", ignore_errors=True)

    def log(self) -> str:
        file = self.folder / "log"
        return file.read_text()[-2000:] if file.exists() else ""


class Kafka(Broker):
    kind = "kafka"

    @property
    def url(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        subprocess.run([ROOT / "tools" / "kafka", "start", self.folder, str(self.port)], check=True)
        self.pid = int((self.folder / "pid").read_text())

    def ready(self) -> bool:
        """It answers for its topics: an open port says little."""
        from confluent_kafka import KafkaException
        from confluent_kafka.admin import AdminClient

        if not answers(self.port):
            return False
        try:
            return bool(AdminClient({"bootstrap.servers": self.url, "log_level": 2}).list_topics(timeout=5).brokers)
        except KafkaException:
            return False


def free_ports() -> int:
    """A free port whose neighbour is free too: a Kafka node needs a pair."""
    while True:
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            port = int(first.getsockname()[1])
            try:
                second.bind(("127.0.0.1", port + 1))
            except OSError:
                continue
            return port


def answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def end(pid: int, how: int) -> None:
    """End a process of ours and wait until it is gone."""
    try:
        os.kill(pid, how)
    except ProcessLookupError:
        return
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and alive(pid):
        time.sleep(0.02)


def alive(pid: int) -> bool:
    try:
        done, _ = os.waitpid(pid, os.WNOHANG)
        return not done
    except ChildProcessError:  # it is the child of someone who ended
        stat = Path(f"/proc/{pid}/stat")
        return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


@contextmanager
def running(kind: Callable[[Path], Broker]) -> Iterator[Broker]:
    """A broker until the end of the block."""
    folder = Path(tempfile.mkdtemp(prefix="horae-broker-"))
    broker = kind(folder)
    try:
        broker.start()
        yield broker
    finally:
        end(broker.pid, signal.SIGKILL)
        shutil.rmtree(folder, ignore_errors=True)
