"""Runs a program under the limits on system calls of our units, as systemd 252 sets them.

    python -m tests.deploy.confined PROGRAM WORDS…

They are set by libseccomp, which systemd uses itself, for this process; the program inherits them:

1. `SystemCallFilter`: only the calls of the sets that the unit allows.
2. `MemoryDenyWriteExecute`: no memory that is writable and executable, and none that becomes executable.
3. `RestrictAddressFamilies`: no sockets but those of the families of the unit.
"""

import ctypes
import errno
import os
import re
import socket
import subprocess
import sys
from mmap import PROT_EXEC, PROT_WRITE
from pathlib import Path

COMMON = Path(__file__).parents[2] / "deploy/systemd/horae-.service.d/common.conf"
ALLOW = 0x7FFF0000
EQUAL, GREATER, MASKED = 4, 6, 7
"""How libseccomp compares an argument of a call."""


class Comparison(ctypes.Structure):
    _fields_ = (("arg", ctypes.c_uint), ("op", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64))


def refuse(number):
    """The action that lets a call fail with this error."""
    return 0x00050000 | number


class Filter:
    """A filter of libseccomp, which refuses what no rule allows."""

    def __init__(self, otherwise):
        self._library = ctypes.CDLL("libseccomp.so.2", use_errno=True)
        self._library.seccomp_init.restype = ctypes.c_void_p
        self._context = ctypes.c_void_p(self._library.seccomp_init(otherwise))

    def add(self, action, call, *comparisons):
        number = self._library.seccomp_syscall_resolve_name(call.encode())
        if number < 0:  # a call of another architecture
            return
        array = (Comparison * len(comparisons))(*(Comparison(*one) for one in comparisons))
        context, act = self._context, ctypes.c_uint32(action)
        status = self._library.seccomp_rule_add_array(context, act, number, len(comparisons), array)
        assert status == 0, (call, status)

    def load(self):
        assert self._library.seccomp_load(self._context) == 0


def settings():
    """The lines of the units that are about system calls; a name may stand several times."""
    found = {}
    for name, value in re.findall(r"^(\w+)=(.*)$", COMMON.read_text(), re.MULTILINE):
        found.setdefault(name, []).append(value)
    return found


def calls_of(name):
    """The system calls of a set, with those of the sets in it, as systemd prints them."""
    said = subprocess.run(
        ["systemd-analyze", "syscall-filter", name], capture_output=True, text=True, check=True
    ).stdout
    words = [line.strip() for line in said.splitlines()[1:] if line.strip() and not line.strip().startswith("#")]
    return set().union(*(calls_of(word) if word.startswith("@") else {word} for word in words))


def filter_calls(lines):
    """Allow the sets of the first line without those of the second one, as the units have them."""
    allowed, removed = lines
    assert removed.startswith("~")
    names = set().union(*map(calls_of, allowed.split())) - set().union(*map(calls_of, removed[1:].split()))
    made = Filter(refuse(errno.EPERM))
    for name in names | calls_of("@default"):  # systemd allows these always
        made.add(ALLOW, name)
    made.load()


def deny_write_execute():
    made, both = Filter(ALLOW), PROT_WRITE | PROT_EXEC
    made.add(refuse(errno.EPERM), "mmap", (2, MASKED, both, both))
    for call in ("mprotect", "pkey_mprotect"):
        made.add(refuse(errno.EPERM), call, (2, MASKED, PROT_EXEC, PROT_EXEC))
    made.load()


def restrict_families(words):
    allowed = {int(getattr(socket, word)) for word in words.split()}
    made = Filter(ALLOW)
    for family in set(range(max(allowed) + 1)) - allowed:
        made.add(refuse(errno.EAFNOSUPPORT), "socket", (0, EQUAL, family, 0))
    made.add(refuse(errno.EAFNOSUPPORT), "socket", (0, GREATER, max(allowed), 0))
    made.load()


if __name__ == "__main__":
    said = settings()
    assert said["NoNewPrivileges"] == said["MemoryDenyWriteExecute"] == ["yes"]
    restrict_families(*said["RestrictAddressFamilies"])
    deny_write_execute()
    filter_calls(said["SystemCallFilter"])  # the last: it refuses the call that loads another filter
    os.execvp(sys.argv[1], sys.argv[1:])
