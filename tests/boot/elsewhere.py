"""Runs `horae` as on a system without the constants of Linux, and without installed programs of PostgreSQL.

Run as a program of its own: the constants are gone before the first module of Horae is imported.
"""

import os
import socket
import sys
import time

LINUX_ONLY = {
    os: ("memfd_create", "MFD_CLOEXEC", "sched_getaffinity"),
    time: ("CLOCK_BOOTTIME", "pthread_getcpuclockid"),
    socket: ("TCP_KEEPIDLE", "TCP_KEEPINTVL", "TCP_KEEPCNT", "TCP_USER_TIMEOUT", "SO_REUSEPORT"),
}
"""What macOS, or another system with Python, does not have."""


def main() -> None:
    for module, names in LINUX_ONLY.items():
        for name in names:
            delattr(module, name)
    from horae.boot.cli import main as run_command
    from horae.boot.dev import programs

    programs.INSTALLED = ()  # type: ignore[misc]
    os.environ["PATH"] = "/nowhere"
    sys.argv[0] = "horae"
    run_command()


if __name__ == "__main__":
    main()
