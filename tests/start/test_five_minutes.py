"""The README after its installation, in this environment. `test_fresh_clone.py` follows the whole of it."""

import os
import re
import sys
import time
from pathlib import Path

import pytest

from tests.start.console import assert_console
from tests.start.readme import CHAPTERS, CLEAN, FIRED, ROOT, Terminal, blocks, commands

PROMISED_S = 300
MOST_COMMANDS = 10
INSTALLATION = re.compile(r"^(make dist|python3 -m venv|\. try/bin/activate|pip ).*\n", re.MULTILINE)


@pytest.mark.parametrize(("english", "chinese"), CHAPTERS.items())
def test_both_languages_say_the_same_commands(english, chinese):
    ours = [commands(block) for block in blocks(english)]
    assert ours
    assert ours == [commands(block) for block in blocks(chinese, "README.zh-CN.md")]


def test_a_start_is_few_commands():
    assert sum(len(commands(block)) for block in blocks("Five minutes")) <= MOST_COMMANDS


@pytest.fixture
def folder():
    """Short enough for a socket, and open to the user that PostgreSQL runs as."""
    place = Path("/tmp") / f"horae-start-{os.getpid()}"
    place.mkdir(mode=0o755)
    (place / "examples").symlink_to(ROOT / "examples")
    yield place
    for path in place.iterdir():
        path.unlink()
    place.rmdir()


@pytest.mark.timeout(PROMISED_S)
def test_what_follows_the_installation_works_as_it_stands_and_has_a_console(folder):
    first, second = (INSTALLATION.sub("", block) for block in blocks("Five minutes"))
    assert len(commands(first) + commands(second)) == 4
    environment = CLEAN | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    if "PYTHONPATH" in os.environ:
        environment["PYTHONPATH"] = ":".join(str(ROOT / part) for part in os.environ["PYTHONPATH"].split(":"))
    began = time.monotonic()
    server = Terminal(first, folder, folder, "first", environment)
    worker = None
    try:
        server.until((folder / "try.env").exists, PROMISED_S)
        [url] = re.findall(r"HORAE_URL='?([^'\s]+)", (folder / "try.env").read_text())
        assert_console(url)
        worker = Terminal(second, folder, folder, "second", environment)
        worker.until(lambda: FIRED.search(worker.said.read_text()), PROMISED_S - (time.monotonic() - began))
    finally:
        if worker is not None:
            worker.end()
        server.end()
    assert not (folder / "try.env").exists(), "the key is gone with its server"
