"""The units of systemd are understood by systemd, are hardened, and start commands that exist."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from horae.runtime.settings import Settings

UNITS = Path(__file__).parents[2] / "deploy/systemd"
NAMES = sorted(path.name for path in UNITS.glob("*.service"))
MAX_EXPOSURE = 1.2
"""The scale of `systemd-analyze security` ends at 10. What is left is the network, which a scheduler needs."""


@pytest.fixture
def units(tmp_path):
    """A copy of the units that starts the program of this tree."""
    copy = tmp_path / "units"
    shutil.copytree(UNITS, copy)
    for unit in copy.glob("*.service"):
        unit.write_text(unit.read_text().replace("/opt/horae/bin/horae", str(Path(sys.executable).parent / "horae")))
    return copy


def run(*command):
    done = subprocess.run([str(one) for one in command], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_there_is_a_unit_for_each_long_running_command():
    pattern = re.compile(r"^ExecStart=/opt/horae/bin/horae (\w+)$", re.MULTILINE)
    commands = [pattern.findall((UNITS / name).read_text()) for name in NAMES]
    assert commands == [["api"], ["node"], ["node"], ["serve"]]
    assert NAMES == ["horae-api.service", "horae-node.service", "horae-node@.service", "horae-serve.service"]


@pytest.mark.parametrize("name", NAMES)
def test_systemd_understands_every_line(units, name):
    """`verify` ends with 0 also after lines that it does not know: only silence is good."""
    assert run("systemd-analyze", "verify", "--man=no", units / name) == (0, "")


def test_a_line_that_systemd_does_not_know_is_noticed(units):
    with (units / "horae-.service.d/common.conf").open("a") as file:
        file.write("ProtectSystems=strict\n")
    _, words = run("systemd-analyze", "verify", "--man=no", units / NAMES[0])
    assert "Unknown key 'ProtectSystems'" in words


@pytest.mark.parametrize("name", NAMES)
def test_the_exposure_is_small(units, name):
    status, words = run("systemd-analyze", "security", "--offline=true", "--no-pager", units / name)
    (exposure,) = re.findall(r"Overall exposure level for \S+: ([\d.]+)", words)
    assert status == 0
    assert float(exposure) <= MAX_EXPOSURE, words


def test_the_times_fit_the_settings():
    """systemd waits for longer than the process takes to stop, and the watchdog for longer than that."""
    common = (UNITS / "horae-.service.d/common.conf").read_text()
    seconds = {name: int(text) for name, text in re.findall(r"^(\w+Sec)=(\d+)$", common, re.MULTILINE)}
    settings = Settings(environment="test")
    assert seconds["TimeoutStopSec"] >= 2 * settings.grace
    assert seconds["WatchdogSec"] >= 5 * settings.lease_ttl
    (files,) = re.findall(r"^LimitNOFILE=(\d+)$", common, re.MULTILINE)
    assert int(files) > settings.api_connections


def test_the_account_is_made_by_systemd(tmp_path):
    (tmp_path / "etc").mkdir()
    status, words = run("systemd-sysusers", f"--root={tmp_path}", UNITS / "sysusers.d/horae.conf")
    assert status == 0, words
    (line,) = [one for one in (tmp_path / "etc/passwd").read_text().splitlines() if one.startswith("horae:")]
    assert line.endswith(":Horae scheduler:/var/lib/horae:/usr/sbin/nologin")
