"""The README's five-minute start, run as it stands: from an empty virtual environment and an empty database."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROMISED_S = 300
MOST_COMMANDS = 10
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("HORAE_", "PG", "VIRTUAL_ENV"))}
NEEDED = ("src", "sdk", "examples", "pyproject.toml", "README.md", "README.zh-CN.md", "CHANGELOG.md", "LICENSE")
FIRED = re.compile(r"^hello: due at \d\d:\d\d:\d\d UTC, attempt 1$", re.MULTILINE)


def blocks(page, heading):
    """What is to be typed into the two terminals."""
    section = (ROOT / page).read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    found = re.findall(r"^```sh\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    assert len(found) == 2
    return found


def commands(text):
    lines = [re.sub(r"\s+#.*", "", line) for line in text.splitlines()]
    return [word for line in lines for word in re.split(r"&&|;", line) if word.strip()]


def test_both_languages_say_the_same_commands_and_few_of_them():
    english = [command for block in blocks("README.md", "Five minutes") for command in commands(block)]
    chinese = [command for block in blocks("README.zh-CN.md", "五分钟上手") for command in commands(block)]
    assert english == chinese
    assert len(english) <= MOST_COMMANDS


class Terminal:
    """A shell in which a block is typed; what it says goes to a file."""

    def __init__(self, block, folder, name, environment):
        self.said = folder / f"{name}.said"
        script = folder / f"{name}.sh"
        script.write_text(block)
        with self.said.open("wb") as said:
            self.shell = subprocess.Popen(
                ["bash", "-e", script],
                cwd=folder,
                env=environment | {"TMPDIR": str(folder), "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def until(self, condition, seconds):
        deadline = time.monotonic() + seconds
        while not condition():
            assert self.shell.poll() is None, self.said.read_text()
            assert time.monotonic() < deadline, self.said.read_text()
            time.sleep(0.1)

    def end(self):
        """Ctrl-C, as the terminal sends it to all of its processes."""
        if self.shell.poll() is None:
            os.killpg(self.shell.pid, signal.SIGINT)
            try:
                self.shell.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(self.shell.pid, signal.SIGKILL)
                self.shell.wait()


@pytest.fixture
def checkout():
    """Short enough for a socket, and open to the user that PostgreSQL runs as."""
    folder = Path("/tmp") / f"horae-start-{os.getpid()}"
    folder.mkdir(mode=0o755)
    for name in NEEDED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / name)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.long
@pytest.mark.timeout(PROMISED_S + 120)
def test_a_newcomer_sees_the_first_fire_of_a_job_of_their_own_within_five_minutes(checkout):
    follow(*blocks("README.md", "Five minutes"), checkout, CLEAN)


@pytest.mark.timeout(PROMISED_S)
def test_what_follows_the_installation_works_as_it_stands(checkout):
    installed = re.compile(r"^(python3 -m venv|\. try/bin/activate|pip ).*\n", re.MULTILINE)
    first, second = (installed.sub("", block) for block in blocks("README.md", "Five minutes"))
    assert len(commands(first) + commands(second)) == 4
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    follow(first, second, checkout, CLEAN | {"PATH": path})


def follow(first, second, checkout, environment):
    """Type both blocks, and wait for the first fire."""
    began = time.monotonic()
    server = Terminal(first, checkout, "first", environment)
    worker = None
    try:
        server.until((checkout / "try.env").exists, PROMISED_S)
        worker = Terminal(second, checkout, "second", environment)
        worker.until(lambda: FIRED.search(worker.said.read_text()), PROMISED_S - (time.monotonic() - began))
        assert time.monotonic() - began < PROMISED_S
    finally:
        if worker is not None:
            worker.end()
        server.end()
    assert not (checkout / "try.env").exists(), "the key is gone with its server"
