"""A network namespace of our own: what lives in it sees its packets dropped by the kernel, and nobody else does.

Only its loopback is up. The ports that are needed listen there as well, and lead out: `python -m
tests.system.namespace NAME PORT …` makes the sockets inside and forwards from outside.
"""

import asyncio
import ctypes
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path

from tests.system.children import ROOT

NEWNET = 0x40000000
PATIENCE = 10.0
NUMBERS = count()


class Namespace:
    """Needs root, `ip` and `nft`."""

    def __init__(self, ports: Sequence[int]) -> None:
        self.name = f"horae-{os.getpid()}-{next(NUMBERS)}"
        self.ports = ports
        self._relay: subprocess.Popen[bytes] | None = None

    @property
    def prefix(self) -> list[str]:
        """Before a command that is to run in it."""
        return ["nsenter", f"--net=/run/netns/{self.name}"]

    def open(self) -> None:
        _run("ip", "netns", "add", self.name)
        _run("ip", "-n", self.name, "link", "set", "lo", "up")
        command = [sys.executable, "-m", "tests.system.namespace", self.name, *map(str, self.ports)]
        self._relay = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT)
        assert self._relay.stdout.readline() == b"open\n"

    def drop(self, ports: Sequence[int]) -> None:
        """From now on no packet from or to these ports arrives, and nobody is told."""
        listed = ", ".join(map(str, ports))
        chain = "add table inet horae; add chain inet horae input { type filter hook input priority 0; }"
        rules = [f"add rule inet horae input tcp {way} {{ {listed} }} drop" for way in ("dport", "sport")]
        _run(*self.prefix, "nft", "; ".join([chain, *rules]))

    def allow(self) -> None:
        _run(*self.prefix, "nft", "delete table inet horae", check=False)

    def close(self) -> None:
        if self._relay is not None:
            self._relay.kill()
            self._relay.wait()
            self._relay.stdin.close()
            self._relay.stdout.close()
        _run("ip", "netns", "del", self.name, check=False)


def namespaces() -> bool:
    """Whether this machine lets us make one."""
    if os.getuid() != 0 or not all(any(Path(d, tool).exists() for d in _path()) for tool in ("ip", "nft", "nsenter")):
        return False
    made = subprocess.run(["unshare", "-n", "nft", "list", "ruleset"], check=False, capture_output=True)
    return made.returncode == 0


def _path() -> list[str]:
    return os.environ.get("PATH", "").split(":")


def _run(*command: str, check: bool = True) -> None:
    subprocess.run(command, check=check, capture_output=True, timeout=PATIENCE)


def _listen_in(name: str, ports: Sequence[int]) -> list[socket.socket]:
    """A socket belongs for ever to the namespace it was made in; we do not."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open("/proc/self/ns/net") as ours, open(f"/run/netns/{name}") as theirs:
        assert libc.setns(theirs.fileno(), NEWNET) == 0
        made = [socket.create_server(("127.0.0.1", port)) for port in ports]
        assert libc.setns(ours.fileno(), NEWNET) == 0
    return made


async def _forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    port = writer.get_extra_info("sockname")[1]
    try:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        writer.transport.abort()
        return
    await asyncio.gather(_pump(reader, far_writer), _pump(far_reader, writer))


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    writer.close()


async def _relay(name: str, ports: Sequence[int]) -> None:
    servers = [await asyncio.start_server(_forward, sock=made) for made in _listen_in(name, ports)]
    sys.stdout.write("open\n")
    sys.stdout.flush()
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)  # whoever made us is gone
    for server in servers:
        server.close()
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(_relay(sys.argv[1], [int(port) for port in sys.argv[2:]]))
