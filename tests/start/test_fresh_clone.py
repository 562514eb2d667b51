"""The README followed as a stranger does: a fresh clone with nothing built, and what the README says, in its order.

The stage `dist` of `.ci/run` runs this. With `HORAE_TEST_KEEP_DIST` the packages go into that folder, for later stages.
"""

import os
import re
import shutil
import subprocess
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx2
import pytest

from tests.cluster import running_server
from tests.memory import quick_folder
from tests.start.console import assert_console
from tests.start.readme import CLEAN, FIRED, ROOT, Terminal, blocks

INSTALLATION_S = 1200
"""For downloads and builds. On two idle cores with warm caches it takes about two minutes."""
FIRST_FIRE_S = 60
STEP_S = 120
API = "http://127.0.0.1:8700"
"""The address that the README names."""
SERVER = "postgresql://127.0.0.1:5432/horae"


@pytest.fixture
def clone():
    """A fresh clone. Its path is short enough for a socket and open to the user that PostgreSQL runs as."""
    beside = Path("/tmp") / f"horae-start-{os.getpid()}"
    beside.mkdir(mode=0o755)
    folder = beside / "clone"
    subprocess.run(["git", "clone", "--quiet", ROOT, folder], check=True)
    assert not (folder / "src" / "horae" / "console").exists()
    assert not (folder / "dist").exists()
    yield folder
    shutil.rmtree(beside)


def terminal(clone: Path, block: str, name: str) -> Terminal:
    """A terminal in the clone; its notes lie beside the clone."""
    return Terminal(block, clone, clone.parent, name, CLEAN)


@contextmanager
def service_of_yours():
    """A service that listens on port 8000 and answers 200, as the chapter "Then" wants it."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *args: object) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 8000), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield
        server.shutdown()


@pytest.mark.long
@pytest.mark.timeout(INSTALLATION_S + 8 * STEP_S)
def test_a_stranger_follows_the_readme_from_a_fresh_clone(clone, record_property):
    first, second = blocks("Five minutes")
    began = time.monotonic()
    server = terminal(clone, first, "first")
    try:
        server.until((clone / "try.env").exists, INSTALLATION_S)
        keep_packages(clone)
        [url] = re.findall(r"HORAE_URL='?([^'\s]+)", (clone / "try.env").read_text())
        assert_console(url)
        worker = terminal(clone, second, "second")
        try:
            worker.until(lambda: FIRED.search(worker.said.read_text()), STEP_S)
        finally:
            worker.end()
        first_fire_s = time.time() - server.time_of("horae dev")
        record_property("from_clone_to_first_fire_s", round(time.monotonic() - began))
        record_property("from_horae_dev_to_first_fire_s", round(first_fire_s))
        assert first_fire_s < FIRST_FIRE_S
        then(clone, second)
    finally:
        server.end()
    assert not (clone / "try.env").exists(), "the key is gone with its server"
    on_a_postgresql_of_your_own(clone)
    left = subprocess.run(["git", "status", "--short"], cwd=clone, capture_output=True, text=True, check=True).stdout
    assert left == "", "git sees nothing of what the README leaves behind"


def keep_packages(clone: Path) -> None:
    """Check that the four packages are there, and hand them to later stages."""
    made = sorted((clone / "dist").glob("horae*"))
    assert [path.name.partition("-")[0] for path in made] == ["horae", "horae", "horae_client", "horae_client"]
    if kept := os.environ.get("HORAE_TEST_KEEP_DIST"):
        Path(kept).mkdir(exist_ok=True)
        for path in made:
            shutil.copy(path, kept)


def then(clone: Path, second: str) -> None:
    """The chapter "Then", in the terminal of the worker."""
    [block] = blocks("Then")
    same_terminal = "".join(f"{line}\n" for line in second.splitlines() if line.startswith(". "))
    with service_of_yours():
        said = terminal(clone, same_terminal + block, "then").finish(STEP_S)
    assert "created" in said
    assert "moved" in said


def on_a_postgresql_of_your_own(clone: Path) -> None:
    """The chapters with a server of one's own: its address is the only word that is not the README's."""
    [block], [over_http] = blocks("On a PostgreSQL of your own"), blocks("Over HTTP")
    assert SERVER in block
    with quick_folder("horae-own") as folder, running_server(folder, {"listen_addresses": "127.0.0.1"}) as port:
        own = SERVER.replace("5432", str(port))
        server = terminal(clone, ". try/bin/activate\n" + block.replace(SERVER, own), "own")
        try:
            server.until(is_serving, STEP_S)
            assert_console(API)
            said = terminal(clone, over_http, "http").finish(STEP_S)
            assert '"name":"coupon_job"' in said.replace(" ", "")
            assert '"status":"ACTIVE"' in said.replace(" ", "")
        finally:
            server.end()


def is_serving() -> bool:
    try:
        return httpx2.get(f"{API}/console/").status_code == 200
    except httpx2.TransportError:
        return False
