"""The commands of the README, and terminals to type them into."""

import os
import re
import signal
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
CHAPTERS = {
    "Five minutes": "五分钟上手",
    "Then": "接下来",
    "On a PostgreSQL of your own": "使用自己的 PostgreSQL",
    "Over HTTP": "通过 HTTP",
}
"""The chapters with commands, in order, in both languages."""
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("HORAE_", "PG", "VIRTUAL_ENV"))} | {
    "PIP_DISABLE_PIP_VERSION_CHECK": "1"
}
"""The environment of somebody who has set nothing for Horae or PostgreSQL."""
CLEAN.pop("PYTHONPATH", None)
FIRED = re.compile(r"^hello: due at \d\d:\d\d:\d\d UTC, attempt 1$", re.MULTILINE)
KEEP_TIMES = 'trap \'echo "$(date +%s) $BASH_COMMAND" >> "{file}"\' DEBUG\n'


def blocks(heading: str, page: str = "README.md") -> list[str]:
    """The blocks of a chapter, each to be typed into a terminal of its own."""
    section = (ROOT / page).read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return re.findall(r"^```sh\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


def commands(text: str) -> list[str]:
    """The commands of a block, without comments."""
    lines = [re.sub(r"\s+#.*", "", line) for line in text.replace("\\\n", "").splitlines()]
    return [word.strip() for line in lines for word in re.split(r"&&|;", line) if word.strip()]


class Terminal:
    """A shell in `folder` into which a block is typed. `said` is its output, `typed` has each command with its time.

    All files that are not the block's own lie in `notes`. Its path is short enough for a socket.
    """

    def __init__(self, block: str, folder: Path, notes: Path, name: str, environment: dict[str, str]) -> None:
        self.said = notes / f"{name}.said"
        self.typed = notes / f"{name}.typed"
        script = notes / f"{name}.sh"
        script.write_text(KEEP_TIMES.format(file=self.typed) + block)
        with self.said.open("wb") as said:
            self.shell = subprocess.Popen(
                ["bash", "-e", script],
                cwd=folder,
                env=environment | {"TMPDIR": str(notes)},
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def until(self, condition, seconds: float) -> None:
        """Wait for a condition while the shell runs."""
        deadline = time.monotonic() + seconds
        while not condition():
            assert self.shell.poll() is None, self.said.read_text()
            assert time.monotonic() < deadline, self.said.read_text()
            time.sleep(0.1)

    def finish(self, seconds: float) -> str:
        """Wait for the end of the block; returns its output."""
        try:
            code = self.shell.wait(seconds)
        finally:
            self.end()
        assert code == 0, self.said.read_text()
        return self.said.read_text()

    def time_of(self, command: str) -> float:
        """When a command was typed, in seconds since 1970."""
        [line] = [line for line in self.typed.read_text().splitlines() if line.partition(" ")[2].startswith(command)]
        return float(line.partition(" ")[0])

    def end(self) -> None:
        """Ctrl-C, as the terminal sends it to all of its processes."""
        if self.shell.poll() is None:
            os.killpg(self.shell.pid, signal.SIGINT)
            try:
                self.shell.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(self.shell.pid, signal.SIGKILL)
                self.shell.wait()
