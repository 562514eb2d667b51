"""Processes that never outlive us: the kernel ends them when the process that started them is gone, however it went."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
SETPRIV = "setpriv"


class Child:
    """One process with its log. Start it from the main thread: the kernel goes by the thread that did."""

    def __init__(self, name: str, log: Path) -> None:
        self.name = name
        self.log = log
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None, f"{self.name} was never started"
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def exit_code(self) -> int | None:
        return None if self._process is None else self._process.poll()

    def spawn(
        self,
        command: Sequence[str | Path],
        env: dict[str, str] | None = None,
        *,
        user: str | None = None,
        dies_by: str = "KILL",
    ) -> None:
        assert not self.running, f"{self.name} runs already"
        rights = ["--reuid", user, "--regid", user, "--init-groups"] if user else []
        whole = [SETPRIV, "--pdeathsig", dies_by, *rights, "--", *map(str, command)]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                whole, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=ROOT, start_new_session=True
            )

    def signal(self, number: int) -> None:
        """To exactly this process, if it still runs."""
        if self.running:
            os.kill(self.pid, number)

    async def ended(self, seconds: float = 30.0) -> int:
        """Wait until it is gone; returns its exit code."""
        deadline = time.monotonic() + seconds
        while self.running:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{self.name} (pid {self.pid}) did not end within {seconds:g} s")
            await asyncio.sleep(0.02)
        code = self.exit_code
        assert code is not None
        return code

    def end(self) -> None:
        """At once, whatever it is doing."""
        self.wait(0)

    def wait(self, seconds: float) -> None:
        """Give it so long to end by itself; then it is ended."""
        if self._process is None:
            return
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def tail(self, lines: int = 30) -> str:
        """The end of its log, for messages about it."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:]) if self.log.exists() else ""


def python(module: str, *args: str) -> list[str]:
    return [sys.executable, "-m", module, *args]
