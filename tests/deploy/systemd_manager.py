"""A real systemd that runs our units, on a machine that was not booted with it.

It runs as a user's manager, as root, in a mount namespace with a `/run` of its own and in a control group of its own.
So it touches nothing of the machine, and its units have the options of ours.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from tests.system.children import ROOT, Child

UNITS = ROOT / "deploy/systemd"
PYTHON = "/usr/bin/python3"
"""Debian's: the units see no home folder, where the interpreter of a developer may be."""
TARGETS = ("default", "basic", "shutdown", "exit", "multi-user", "network-online")
RUNTIME = "/run/horae-manager"
# A service without root sends to a socket of the manager: the first process of a system has this mask, too.
# A service sees these nodes in place of what it may not read: the first process of a system makes them at its start.
START = """
set -e
for tree in systemd unified; do echo $$ > /sys/fs/cgroup/$tree/{group}/cgroup.procs; done
mount -t tmpfs none /run
mkdir -p /run/systemd/system /run/systemd/inaccessible/dir {runtime}
cd /run/systemd/inaccessible
touch reg sock
mkfifo fifo
mknod chr c 0 0
mknod blk b 0 0
chmod 0 *
cd /
export XDG_RUNTIME_DIR={runtime} SYSTEMD_UNIT_PATH={units} SYSTEMD_LOG_TARGET=console
umask 0
exec /lib/systemd/systemd --user --unit=default.target
"""
OWN_LINES = """
[Service]
ExecStart=
ExecStart={python} -m tests.monitoring.quick_process {word}
WorkingDirectory={root}
User=nobody
Group=nogroup
StateDirectory=
Environment=PYTHONPATH={path} PYTHONDONTWRITEBYTECODE=1 HOME=/nonexistent
EnvironmentFile={environment}
StandardOutput=append:{log}
StandardError=append:{log}
WatchdogSec=3
RestartSec=1
"""


class SystemdManager:
    """Started in the block. `log` is what the services print."""

    def __init__(self, folder, environment):
        self._folder, self._environment = folder, environment
        self._units = folder / "units"
        self._group = f"horae-test-{os.getpid()}"
        self._manager = Child("systemd", folder / "systemd.log")
        self.log = folder / "services.log"

    def __enter__(self):
        version = subprocess.run(
            [PYTHON, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True, check=True
        )
        assert version.stdout.split() == [str(one) for one in sys.version_info[:2]], "libraries of another Python"
        shutil.copytree(UNITS, self._units)
        for target in TARGETS:
            (self._units / f"{target}.target").write_text(f"[Unit]\nDescription={target}\n")
        for word in ("node", "api"):
            self._write_own_lines(word)
        for tree in self._groups():
            tree.mkdir()
        script = START.format(group=self._group, runtime=RUNTIME, units=self._units)
        self._manager.spawn(
            ["unshare", "--mount", "--propagation", "private", "sh", "-c", script], {"PATH": os.environ["PATH"]}
        )
        return self

    def __exit__(self, *_):
        self._manager.end()
        for tree in self._groups():
            for group in sorted(tree.rglob("cgroup.procs"), reverse=True):
                for pid in group.read_text().split():
                    with suppress(ProcessLookupError):
                        os.kill(int(pid), signal.SIGKILL)
        for tree in self._groups():
            remove_group(tree)

    def systemctl(self, *words, timeout=60):
        """What `systemctl` prints."""
        command = [
            "nsenter",
            "--target",
            str(self._manager.pid),
            "--mount",
            "systemctl",
            "--user",
            "--no-pager",
            *words,
        ]
        environment = os.environ | {"XDG_RUNTIME_DIR": RUNTIME}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=timeout, check=False)
        return (done.stdout + done.stderr).strip()

    def show(self, unit, fact):
        """A fact about a unit, as in `MainPID`."""
        return self.systemctl("show", unit, "--property", fact, "--value")

    def is_up(self):
        """Whether it takes commands."""
        return self._manager.running and self.systemctl("is-system-running") in {"running", "starting", "degraded"}

    def _write_own_lines(self, word):
        folder = self._units / f"horae-{word}.service.d"
        folder.mkdir()
        file = self._folder / "environment"
        file.write_text("".join(f"{name}='{value}'\n" for name, value in self._environment.items()))
        path = os.pathsep.join(one for one in [str(ROOT), *sys.path] if one and "python3.11.zip" not in one)
        facts = {"python": PYTHON, "word": word, "root": ROOT, "path": path, "environment": file, "log": self.log}
        (folder / "test.conf").write_text(OWN_LINES.format(**facts))

    def _groups(self):
        return [Path("/sys/fs/cgroup") / tree / self._group for tree in ("systemd", "unified")]


def remove_group(group):
    """Remove a control group with those in it, when their processes are gone."""
    deadline = time.monotonic() + 60
    for inner in sorted((path for path in group.rglob("*") if path.is_dir()), reverse=True):
        _remove(inner, deadline)
    _remove(group, deadline)


def _remove(group, deadline):
    while True:
        try:
            group.rmdir()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return
