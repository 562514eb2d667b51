"""Messages to the service manager that started this process, in the protocol of systemd (`sd_notify`).

A message is a datagram of lines `NAME=value`, sent to the socket that `NOTIFY_SOCKET` names. An address that begins
with `@` is in the abstract namespace of Linux.
"""

import os
import re
from collections.abc import Mapping
from socket import AF_UNIX, SOCK_DGRAM, socket
from typing import Final, NamedTuple, Self

READY: Final = "READY=1"
STOPPING: Final = "STOPPING=1"
WATCHDOG: Final = "WATCHDOG=1"
MAX_STATUS_CHARACTERS: Final = 500


class ServiceManager(NamedTuple):
    """Where messages go, and within how many seconds the next `WATCHDOG` is expected; None: no watchdog waits."""

    address: str
    watchdog_s: float | None

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Self | None:
        """Returns the service manager of this process; None if nobody waits for its messages."""
        address = environment.get("NOTIFY_SOCKET", "")
        if not address.startswith(("/", "@")):
            return None
        return cls(address, _watchdog_s(environment))

    def send(self, *lines: str) -> bool:
        """Send one message, and return whether the manager has it. It does not wait while the manager is busy."""
        with socket(AF_UNIX, SOCK_DGRAM) as sender:
            sender.setblocking(False)
            try:
                sender.sendto("\n".join(lines).encode(), re.sub("^@", "\0", self.address))
            except OSError:
                return False
        return True


def status_line(sentence: str) -> str:
    """The line that `systemctl status` shows. A line break would begin another line of the message."""
    return f"STATUS={' '.join(sentence.split())[:MAX_STATUS_CHARACTERS]}"


def _watchdog_s(environment: Mapping[str, str]) -> float | None:
    """Seconds between two signs of life. Variables that were inherited from another service have another pid."""
    if environment.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return None
    text = environment.get("WATCHDOG_USEC", "")
    return int(text) / 1e6 if text.isdecimal() and int(text) else None
