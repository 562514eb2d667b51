"""Horae on a developer's machine that is no Debian: other clocks and socket options, PostgreSQL out of a wheel."""

import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from horae.boot import api_server
from horae.boot.dev import programs
from horae.delivery import tls
from horae.domain.errors import Invalid
from horae.runtime.settings import Settings
from tests.boot import elsewhere
from tests.boot.test_dev import CLEAN, ENVIRONMENT, Running
from tests.delivery.certificates import Authority
from tests.system.children import ROOT

PATH = os.pathsep.join(os.path.abspath(one) for one in sys.path if one)


@pytest.fixture
def hidden(monkeypatch):
    """The constants of Linux are not there."""
    for module, names in elsewhere.LINUX_ONLY.items():
        for name in names:
            monkeypatch.delattr(module, name)


@pytest.fixture
def folder():
    """Open to the user that PostgreSQL runs as, whatever other runs do to the folder of pytest."""
    folder = Path(tempfile.mkdtemp(prefix="horae-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def test_dev_fires_without_the_constants_of_linux_and_with_postgresql_out_of_a_wheel(folder):
    with subprocess.Popen(
        [sys.executable, "-m", "tests.boot.elsewhere", "dev", "--fresh"],
        env=ENVIRONMENT | {"PYTHONPATH": PATH, "TMPDIR": str(folder)},
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        running = Running(process)
        try:
            running.until(r"✓ every-five +delivered")
            [log] = folder.glob("horae-dev-*/log")
            assert re.search(r"starting PostgreSQL 1[678]\.", log.read_text())
            assert "every-five" in running.ask()
        finally:
            process.send_signal(signal.SIGINT)
            rest = process.stdout.read()
            assert process.wait(60) == 0, rest
    assert list(folder.iterdir()) == []


def test_without_any_postgresql_it_says_how_to_get_one(monkeypatch):
    monkeypatch.setattr(programs, "INSTALLED", ())
    monkeypatch.setattr(programs, "WHEEL", "no_such_package")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(Invalid, match=r"pip install 'horae\[postgresql\]'"):
        programs.programs()


def test_installed_programs_go_before_those_of_the_wheel_and_data_keeps_its_version():
    own = programs.programs()
    assert own.is_relative_to("/usr/lib/postgresql")
    wheel = programs._of_wheel()
    assert [programs._major(folder) for folder in wheel] == ["18", "16"]
    assert programs.programs("16") == wheel[1]


def test_a_client_certificate_is_loaded_without_files_in_memory_and_leaves_none(hidden, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "empty"))
    (tmp_path / "empty").mkdir()
    ours = Authority(tmp_path, "ours")
    made = tls.context(tls.Identity(ours.issue("client", "DNS:client"), ours.pem))
    assert made.cert_store_stats()["x509_ca"] == 1
    assert list((tmp_path / "empty").iterdir()) == []


async def test_connections_to_the_database_are_kept_alive_with_what_the_system_has(hidden, store):
    async with store.cells[0].direct() as connection:
        own = connection._transport.get_extra_info("socket")
        assert own.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1


def test_a_port_is_listened_on_without_sharing_it(hidden):
    with api_server.listen("127.0.0.1", 0) as listening:
        assert listening.getsockname()[1] > 0


def test_a_system_that_refuses_more_open_files_keeps_its_limit(monkeypatch):
    def refuse(_what, _limits):
        raise ValueError("current limit exceeds maximum limit")

    monkeypatch.setattr(resource, "getrlimit", lambda _what: (256 + 100, resource.RLIM_INFINITY))
    monkeypatch.setattr(resource, "setrlimit", refuse)
    assert api_server.limits_of(Settings(environment="test")).total == 100


def test_the_clock_is_monotonic_where_no_other_one_is_there():
    script = "import time; del time.CLOCK_BOOTTIME; from horae.runtime import clock; "
    script += "assert clock.TICKING_CLOCK == time.CLOCK_MONOTONIC; assert clock.boottime() <= clock.boottime()"
    subprocess.run([sys.executable, "-c", script], env=CLEAN | {"PYTHONPATH": PATH}, check=True)
