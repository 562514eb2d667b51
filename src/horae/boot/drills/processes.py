"""Processes of the drill's own host. A pid is used again after its process ended: its start time tells two apart."""

import os
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from horae.domain.errors import Invalid, NotFound

PROC: Final = Path("/proc")
START_TIME_FIELD: Final = 19
"""The place of the start time in `/proc/PID/stat`, after the name in parentheses."""
SYSTEMCTL: Final = "/usr/bin/systemctl"
SYSTEMCTL_TIMEOUT_S: Final = 10.0


class ProcessRef(msgspec.Struct, frozen=True):
    """One process: its pid, and when it started, in clock ticks since the start of the machine."""

    pid: int
    started: int

    @property
    def runs(self) -> bool:
        """Whether it still exists; a dead one that nobody has waited for does not count."""
        return _stat(self.pid) is not None and process(self.pid) == self

    @property
    def may_be_signalled(self) -> bool:
        """Whether this user may send it signals."""
        with suppress(OSError):
            os.kill(self.pid, 0)
            return True
        return False

    def signal(self, number: int) -> bool:
        """Send a signal to exactly this process; returns whether it was there."""
        if not self.runs:
            return False
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)
            return True
        return False


def process(pid: int) -> ProcessRef | None:
    """The process with this pid; None if there is none."""
    fields = _stat(pid)
    return None if fields is None else ProcessRef(pid, int(fields[START_TIME_FIELD]))


def find(pid: int | None, pid_file: Path | None, unit: str | None) -> ProcessRef:
    """The process of a pid, of a file whose first line is a pid, or of a unit of systemd."""
    if sum(one is not None for one in (pid, pid_file, unit)) != 1:
        raise Invalid("say which process: one of --pid, --pid-file and --unit")
    if pid_file is not None:
        pid = _pid_in(pid_file)
    elif unit is not None:
        pid = _pid_of(unit)
    found = process(pid or 0)
    if found is None:
        raise NotFound(f"there is no process {pid} on this host")
    return found


def command_of(found: ProcessRef) -> list[str]:
    """The words of its command line."""
    with suppress(OSError):
        return (PROC / str(found.pid) / "cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
    return []


def tree(root: ProcessRef) -> list[ProcessRef]:
    """A process and its children, the parent first: it starts no other child once it is stopped."""
    found = [root]
    with suppress(OSError):
        children = (PROC / str(root.pid) / "task" / str(root.pid) / "children").read_text().split()
        found += [one for child in children if (one := process(int(child))) is not None]
    return found


def postmaster(data: Path) -> ProcessRef | None:
    """The PostgreSQL of a data folder; None where none runs."""
    try:
        return process(_pid_in(data / "postmaster.pid"))
    except (NotFound, Invalid):
        return None


def _stat(pid: int) -> list[str] | None:
    try:
        fields = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in {"Z", "X"} else fields


def _pid_in(file: Path) -> int:
    try:
        return int(file.read_text().split()[0])
    except OSError as error:
        raise NotFound(f"{file} cannot be read: {error.strerror}") from error
    except (ValueError, IndexError) as error:
        raise Invalid(f"{file} does not begin with a pid") from error


def _pid_of(unit: str) -> int:
    command = [SYSTEMCTL, "show", "--property=MainPID", "--value", "--", unit]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SYSTEMCTL_TIMEOUT_S, check=True)
        return int(done.stdout.strip() or 0)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise NotFound(f"systemd does not tell the pid of {unit}") from error


def parent_of(pid: int) -> int | None:
    """The pid of the parent of a process; None if there is no such process on this host."""
    fields = _stat(pid)
    return None if fields is None else int(fields[1])
