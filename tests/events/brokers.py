"""Real brokers for tests, each in a temporary folder and on a free port; killed, restarted and wiped by its own pid."""

import asyncio
import json
import os
import pwd
import random
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from horae.runtime.settings import BrokerSettings

if TYPE_CHECKING:
    from nats.js.client import JetStreamContext

ROOT = Path(__file__).parents[2]
BIN = str(ROOT / ".venv" / "bin")
RABBIT = Path("/usr/lib/rabbitmq/bin")
JARS = ROOT / ".venv" / "kafka"
ROCKET_JARS = ROOT / ".venv" / "rocketmq"
PATIENCE = 180
PORTS = 15_000, 32_000


class Broker:
    """One server. `settings` is how a deployment names it."""

    kind = ""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_ports()
        self.pid = 0
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        raise NotImplementedError

    @property
    def settings(self) -> BrokerSettings:
        return BrokerSettings.model_validate({"kind": self.kind, "url": self.url})

    def start(self) -> None:
        raise NotImplementedError

    def topic(self, name: str) -> str:
        """A topic of the tenant `acme`."""
        return f"acme.{name}"

    async def declare(self, *topics: str) -> None:
        """Make topics; Kafka makes them itself."""

    def ready(self) -> bool:
        return answers(self.port)

    def await_ready(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while not self.ready():
            assert time.monotonic() < deadline, f"{self.kind} was not ready: {self.log()}"
            time.sleep(0.05)

    def kill(self) -> None:
        """At once, as a power cut does."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        elif self.pid:
            end(self.pid, signal.SIGKILL)

    def close(self) -> None:
        """For good."""
        self.kill()

    def restart(self) -> None:
        self.start()
        self.await_ready()

    def wipe(self) -> None:
        """Everything it held is gone."""
        shutil.rmtree(self.folder / "data", ignore_errors=True)

    async def state(self, topic: str) -> str:
        """What it says of a topic and of who takes from it, for the message of a test that fails."""
        return f"{self.kind} on port {self.port}, ready: {await asyncio.to_thread(self.ready)}; {self.log()[-500:]}"

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


class Nats(Broker):
    kind = "nats"

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self.port}"

    def start(self) -> None:
        where = ["-a", "127.0.0.1", "-p", str(self.port), "-js", "-sd", self.folder / "data"]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen([shutil.which("nats-server", path=BIN), *where], stdout=log, stderr=log)
        self.pid = self.process.pid

    def ready(self) -> bool:
        """It has its streams: an open port says little."""
        return answers(self.port) and asyncio.run(self._stores())

    async def _stores(self) -> bool:
        try:
            async with self._streams() as streams:
                await streams.account_info()
        except Exception:  # whatever it says while it starts
            return False
        return True

    async def declare(self, *subjects: str) -> None:
        """Streams that keep what is said under these."""
        async with self._streams() as streams:
            for subject in subjects:
                await streams.add_stream(name=subject.replace(".", "-"), subjects=[subject])

    async def state(self, topic: str) -> str:
        try:
            async with self._streams() as streams:
                name = topic.replace(".", "-")
                stream, takers = await streams.stream_info(name), await streams.consumers_info(name)
        except Exception as error:  # it is to say why another failed, not to fail itself
            return f"{error!r}; {await super().state(topic)}"
        facts = "num_pending", "num_ack_pending", "num_redelivered", "num_waiting"
        said = [{fact: getattr(one, fact) for fact in facts} for one in takers]
        return f"nats has {stream.state.messages} messages, consumers: {said}"

    @asynccontextmanager
    async def _streams(self) -> AsyncIterator["JetStreamContext"]:
        import nats

        client = await nats.connect(self.url, connect_timeout=5, allow_reconnect=False)
        try:
            yield client.jetstream(timeout=30)
        finally:
            await client.close()


class Rabbit(Broker):
    """A node of its own: its name, folders and ports are no other's. It runs as the user Debian made for it."""

    kind = "rabbitmq"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.names = free_ports()
        self.register: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"amqp://guest:guest@127.0.0.1:{self.port}/"

    def start(self) -> None:
        become: dict[str, object] = {}
        if os.getuid() == 0:
            user = pwd.getpwnam("rabbitmq")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            become = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        facts = {
            "RABBITMQ_NODENAME": f"horae{self.port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": self.port,
            "RABBITMQ_DIST_PORT": self.port + 1,
            "RABBITMQ_MNESIA_BASE": self.folder / "data",
            "RABBITMQ_LOG_BASE": self.folder / "logs",
            "RABBITMQ_PID_FILE": self.folder / "pid",
            "RABBITMQ_ENABLED_PLUGINS_FILE": self.folder / "plugins",
            "RABBITMQ_CONFIG_FILE": self.folder / "rabbitmq",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-setcookie horae +S 1:1",
            "ERL_EPMD_PORT": self.names,
            "HOME": self.folder,
        }
        env = os.environ | {name: str(value) for name, value in facts.items()}
        if self.register is None:  # ours, in the foreground: a node would start one that stays behind
            epmd = ["epmd", "-port", str(self.names), "-address", "127.0.0.1"]
            self.register = subprocess.Popen(epmd, **become)
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [RABBIT / "rabbitmq-server"], stdout=log, stderr=log, env=env, start_new_session=True, **become
            )
        self.pid = self.process.pid

    def kill(self) -> None:
        """With all it started: its script waits for the node itself."""
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.pid, signal.SIGKILL)
            self.process.wait()

    def close(self) -> None:
        super().close()
        if self.register is not None:
            self.register.kill()
            self.register.wait()

    def ready(self) -> bool:
        """It lets somebody in: an open port says little."""
        return answers(self.port) and asyncio.run(self._lets_in())

    async def _lets_in(self) -> bool:
        import aio_pika

        try:
            await (await aio_pika.connect(self.url, timeout=3)).close()
        except Exception:  # whatever it says while it starts
            return False
        return True

    async def declare(self, *queues: str) -> None:
        """Queues that survive a restart."""
        import aio_pika

        connection = await aio_pika.connect(self.url)
        async with connection:
            channel = await connection.channel()
            for queue in queues:
                await channel.declare_queue(queue, durable=True)

    async def delete(self, queue: str) -> None:
        """With all it holds."""
        import aio_pika

        async with await aio_pika.connect(self.url) as connection:
            await (await connection.channel()).queue_delete(queue)


class Rocket(Broker):
    """A name server, one broker and one proxy. The broker is what is killed: the two others stay."""

    kind = "rocketmq"
    WIDTH = 7

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.port = free_ports(self.WIDTH)
        self.declared = {"ready"}

    @property
    def url(self) -> str:
        return f"127.0.0.1:{self.port + 1}"

    def topic(self, name: str) -> str:
        """Its names have no dot, and `*` in `{tenant}-*` stands for something without a hyphen."""
        return "acme-" + name.replace("-", "_").replace(".", "_")

    def start(self) -> None:
        if self.pid:
            subprocess.run([ROOT / "tools" / "rocketmq", "part", "broker", self.folder], check=True)
        else:
            subprocess.run([ROOT / "tools" / "rocketmq", "start", self.folder, str(self.port)], check=True)
        self.pid = self._pid("broker")

    def _pid(self, part: str) -> int:
        file = self.folder / f"{part}.pid"
        return int(file.read_text()) if file.exists() else 0

    def close(self) -> None:
        for part in ("waiter", "proxy", "broker", "names"):
            if pid := self._pid(part):
                end(pid, signal.SIGKILL)

    def ready(self) -> bool:
        """It takes a message: an open port says little, and a broker is registered after it has opened its port."""
        log = self.folder / "broker.log"
        started = log.exists() and "boot success" in log.read_text()
        return started and answers(self.port + 1) and asyncio.run(self._takes())

    async def _takes(self) -> bool:
        from horae.delivery.brokers import Message, sink_of
        from horae.domain.errors import HoraeError

        sink = sink_of(self.settings)
        try:
            await self.declare("ready")
            for topic in self.declared:  # for a while after a restart, the proxy remembers that they were not there
                await sink.send(topic, [])
            await sink.send("ready", [Message("ready", "ready", b"?", {})])
        except (OSError, EOFError, HoraeError):  # whatever it says while it starts
            return False
        finally:
            await sink.close()
        return True

    async def declare(self, *topics: str) -> None:
        """Topics of type FIFO, and that answered; by the protocol of `mqadmin`, which takes seconds to start."""
        for topic in topics:
            facts = {
                "topic": topic,
                "defaultTopic": "TBW102",
                "readQueueNums": "4",
                "writeQueueNums": "4",
                "perm": "6",
                "topicFilterType": "SINGLE_TAG",
                "topicSysFlag": "0",
                "order": "false",
                "attributes": "+message.type=FIFO",
            }
            self.declared.add(topic)
            await self._ask({"code": 17, "language": "OTHER", "version": 0, "opaque": 1, "flag": 0, "extFields": facts})

    async def _ask(self, command: dict[str, object]) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port + 5)
        try:
            head = json.dumps(command).encode()
            writer.write(struct.pack(">ii", len(head) + 4, len(head)) + head)
            length = struct.unpack(">i", await reader.readexactly(4))[0]
            answer = await reader.readexactly(length)
            told = json.loads(answer[4 : 4 + (struct.unpack(">i", answer[:4])[0] & 0xFFFFFF)])
            assert told["code"] == 0, told
        finally:
            writer.close()

    def log(self) -> str:
        files = [self.folder / f"{part}.log" for part in ("names", "broker", "proxy")]
        return "\n".join(file.read_text()[-700:] for file in files if file.exists())


def free_ports(width: int = 2) -> int:
    """A free port whose neighbours are free too: a Kafka node needs a pair, RocketMQ seven in a row.

    None that the kernel gives to connections: between a kill and its restart, one could take it.
    """
    while True:
        port = random.randrange(*PORTS)
        with ExitStack() as opened, suppress(OSError):
            for n in range(width):
                opened.enter_context(socket.socket()).bind(("127.0.0.1", port + n))
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
        broker.close()
        shutil.rmtree(folder, ignore_errors=True)
