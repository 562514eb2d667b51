"""A switch and one network namespace for each member: a member is cut off by pulling its cable."""

import os
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from random import SystemRandom
from typing import Final

PATIENCE_S: Final = 10.0


class Switch:
    """A bridge with one cable to each namespace. Needs root and `ip`. `address(0)` is ours."""

    def __init__(self, members: int) -> None:
        self._tag = f"h{os.getpid() % 100_000}"
        chance = SystemRandom()
        self._net = f"10.{chance.randrange(64, 250)}.{chance.randrange(1, 250)}"
        self.members = members

    def address(self, member: int) -> str:
        """The address of a member, counted from 1."""
        return f"{self._net}.{10 + member}"

    def prefix(self, member: int) -> list[str]:
        """Before a command that runs on a member."""
        return ["nsenter", f"--net=/run/netns/{self._name(member)}"]

    def open(self) -> None:
        """Make the bridge and the namespaces."""
        _ip("link", "add", self._tag, "type", "bridge")
        _ip("addr", "add", f"{self.address(0)}/24", "dev", self._tag)
        _ip("link", "set", self._tag, "up")
        for member in range(1, self.members + 1):
            name, near, far = self._name(member), f"{self._tag}n{member}", f"{self._tag}f{member}"
            _ip("netns", "add", name)
            _ip("link", "add", near, "type", "veth", "peer", "name", far)
            _ip("link", "set", near, "master", self._tag, "up")
            _ip("link", "set", far, "netns", name)
            inside = ("-n", name)
            _ip(*inside, "link", "set", "lo", "up")
            _ip(*inside, "addr", "add", f"{self.address(member)}/24", "dev", far)
            _ip(*inside, "link", "set", far, "up")

    def cut(self, member: int) -> None:
        """Pull the cable of a member: no packet arrives, and nobody is told."""
        _ip("link", "set", f"{self._tag}n{member}", "down")

    def mend(self, member: int) -> None:
        """Plug the cable in again."""
        _ip("link", "set", f"{self._tag}n{member}", "up")

    def close(self) -> None:
        """Remove everything; its processes have ended."""
        for member in range(1, self.members + 1):
            with suppress(subprocess.SubprocessError):
                _ip("netns", "del", self._name(member))
        with suppress(subprocess.SubprocessError):
            _ip("link", "del", self._tag)

    def _name(self, member: int) -> str:
        return f"{self._tag}m{member}"


def _ip(*words: str) -> None:
    command: Sequence[str] = ("ip", *words)
    subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE_S)
