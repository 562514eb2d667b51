"""How much slower this machine is just now than the one on which bounds of CPU time were set.

CPU time needs no quiet machine, but it is no constant: a slower core, or a neighbour that fills the caches, makes the
same work take more of it. So a process of known cost is measured beside, and seconds are those of the usual speed.
"""

import os
import subprocess
import sys
from collections.abc import Mapping

WORK = "import argparse, asyncio, decimal, email.message, http.client, inspect, json"
USUAL_CPU_S = 0.2
"""What a process that imports these takes on a machine of our usual speed, from bytecode."""


def slowness(environment: Mapping[str, str] | None = None) -> float:
    """So many times as much CPU time as usual is used now; a faster machine counts as the usual one."""
    return max(1.0, cpu_of(subprocess.Popen([sys.executable, "-c", WORK], env=environment)) / USUAL_CPU_S)


def cpu_of(process: "subprocess.Popen[bytes]") -> float:
    """The CPU time of a child that has ended, or ends now."""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime
