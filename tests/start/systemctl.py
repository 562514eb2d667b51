#!/usr/bin/python3
"""Does what `systemctl enable --now` and `systemctl restart` do, where no systemd runs as the first process.

It reads the units as they are: `ExecStart`, `Environment` and `User`, with the lines that all units of Horae share.
Like systemd it returns when the process says that it is ready.
"""

import os
import pwd
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

FOLDERS = [Path("/etc/systemd/system"), Path("/lib/systemd/system")]
STATE = Path("/run/units")
READY_S = 120


def lines_of(name):
    """The text of a unit, with its instance filled in."""
    base, at, instance = name.removesuffix(".service").partition("@")
    file = next(path for folder in FOLDERS if (path := folder / f"{base}{at}.service").exists())
    shared = FOLDERS[0] / "horae-.service.d" / "common.conf"
    text = file.read_text() + (shared.read_text() if base.startswith("horae-") else "")
    return text.replace("%i", instance)


def values(text, key):
    return re.findall(rf"^{key}=(.*)$", text, re.MULTILINE)


def stop(name):
    file = STATE / f"{name}.pid"
    if file.exists():
        pid = int(file.read_text())
        os.kill(pid, signal.SIGTERM)
        while Path(f"/proc/{pid}").exists() and "Z" not in Path(f"/proc/{pid}/stat").read_text().split()[2]:
            time.sleep(0.05)


def start(name):
    text = lines_of(name)
    [command], [user, *_] = values(text, "ExecStart"), values(text, "User")
    account = pwd.getpwnam(user)
    address = STATE / f"{name}.sock"
    address.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    listener.bind(str(address))
    address.chmod(0o666)
    listener.settimeout(READY_S)
    environment = dict(one.split("=", 1) for one in values(text, "Environment"))
    environment |= {"PATH": os.environ["PATH"], "HOME": account.pw_dir, "NOTIFY_SOCKET": str(address)}
    with (STATE / f"{name}.log").open("ab") as log:
        child = subprocess.Popen(
            command.split(),
            env=environment,
            user=account.pw_uid,
            group=account.pw_gid,
            extra_groups=[],
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    (STATE / f"{name}.pid").write_text(str(child.pid))
    try:
        while b"READY=1" not in listener.recv(4096):
            pass
    except TimeoutError:
        sys.exit(f"{name} was not ready within {READY_S} s:\n{(STATE / f'{name}.log').read_text()[-4000:]}")


def main():
    verb, *names = [word for word in sys.argv[1:] if not word.startswith("-")]
    STATE.mkdir(exist_ok=True, mode=0o755)
    for name in names:
        if verb == "restart":
            stop(name)
        start(name)


main()
