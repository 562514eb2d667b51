"""A drill of its own process, as small as can be: it freezes a process and waits. `LOG PID LIMIT_S` are its words."""

import asyncio
import sys
from pathlib import Path
from signal import SIGSTOP

from horae.boot.drills.guarded import guarded
from horae.boot.drills.processes import process
from horae.boot.drills.way_back import ContinueProcess


async def main(log: Path, pid: int, limit_s: float) -> None:
    victim = process(pid)
    assert victim is not None
    async with guarded(limit_s, log) as guardian:
        await guardian.note(ContinueProcess(victim))
        victim.signal(SIGSTOP)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])))
