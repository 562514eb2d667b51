"""A deployment is built from files alone: no network, no cache, and nothing but what hashes to what was pinned."""

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text()
MISMATCH = "DO NOT MATCH THE HASHES"
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "PYTHON"))} | {
    "PIP_CONFIG_FILE": os.devnull
}
LISTED = (
    "import importlib.metadata as m, json; print(json.dumps({d.name.lower(): d.version for d in m.distributions()}))"
)


def make_wheel(folder: Path, body: str) -> Path:
    """A wheel of one module, as small as a wheel can be."""
    wheel = folder / "part-1.0-py3-none-any.whl"
    with ZipFile(wheel, "w") as archive:
        archive.writestr("part.py", body)
        archive.writestr("part-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: part\nVersion: 1.0\n")
        archive.writestr("part-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("part-1.0.dist-info/RECORD", "")
    return wheel


def install(folder: Path, lock: Path) -> subprocess.CompletedProcess[str]:
    """Run the very line of `make offline`, with another lock, into a folder."""
    [line] = re.findall(r"pip (install .*--find-links \$\(DIST\)/wheels .*)$", MAKEFILE, re.MULTILINE)
    words = shlex.split(line.replace("$(DIST)", str(folder)).replace("requirements/run.txt", str(lock)))
    command = [sys.executable, "-m", "pip", *words, "--target", str(folder / "installed")]
    return subprocess.run(command, check=False, env=CLEAN, capture_output=True, text=True)


def test_a_file_that_does_not_hash_to_its_pin_is_not_installed(tmp_path):
    (tmp_path / "wheels").mkdir()
    wheel = make_wheel(tmp_path / "wheels", "GOOD = True\n")
    pinned = wheel.read_bytes()
    lock = tmp_path / "lock.txt"
    lock.write_text(f"part==1.0 \\\n    --hash=sha256:{hashlib.sha256(pinned).hexdigest()}\n")
    make_wheel(tmp_path / "wheels", "GOOD = False\n")
    refused = install(tmp_path, lock)
    assert (refused.returncode, MISMATCH in refused.stderr) == (1, True), refused.stderr
    assert not (tmp_path / "installed" / "part.py").exists()
    wheel.unlink()
    assert "No matching distribution" in install(tmp_path, lock).stderr, "no index is asked"
    wheel.write_bytes(pinned)
    done = install(tmp_path, lock)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "installed" / "part.py").read_text() == "GOOD = True\n"


def test_a_pin_without_a_hash_is_not_installed(tmp_path):
    (tmp_path / "wheels").mkdir()
    make_wheel(tmp_path / "wheels", "GOOD = True\n")
    lock = tmp_path / "lock.txt"
    lock.write_text("part==1.0\n")
    refused = install(tmp_path, lock)
    assert (refused.returncode, "Hashes are required" in refused.stderr) == (1, True), refused.stderr


def make(target: str, dist: Path, prefix: tuple[str, ...] = (), env: dict[str, str] | None = None) -> str:
    """Run a target of the Makefile; raises with all that it said where it fails."""
    command = [*prefix, "make", "-o", "console", target, f"DIST={dist}", f"PYTHON={sys.executable}"]
    done = subprocess.run(command, check=False, cwd=ROOT, env=env, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)
    return done.stdout


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.skipif(os.getuid() != 0, reason="a namespace without a network needs root")
def test_without_a_network_a_clean_environment_is_built_and_equals_the_pins(tmp_path):
    try:
        make("wheels", tmp_path)
    except RuntimeError as failed:
        pytest.skip(f"no index answers, and nothing was downloaded before: {failed}")
    alone = ("unshare", "--net")
    make("offline", tmp_path, alone, CLEAN)
    python = tmp_path / "venv" / "bin" / "python"
    found = json.loads(subprocess.run([python, "-c", LISTED], check=True, env=CLEAN, capture_output=True).stdout)
    pins = re.findall(r"^([\w.-]+)==(\S+)(.*)$", (ROOT / "requirements" / "run.txt").read_text(), re.MULTILINE)
    listed = {name: version for name, version, marker in pins if "win32" not in marker and "'nt'" not in marker}
    listed["horae"] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    installed = {name.replace("_", "-").replace(".", "-"): version for name, version in found.items()}
    assert {name: version for name, version in installed.items() if name not in ("pip", "setuptools")} == listed
    told = [*alone, tmp_path / "venv" / "bin" / "horae", "--help"]
    assert "Usage: horae" in subprocess.run(told, check=True, env=CLEAN, capture_output=True, text=True).stdout
    shutil.rmtree(tmp_path / "venv")
    changed = next((tmp_path / "wheels").glob("asyncpg-*.whl"))
    changed.write_bytes(changed.read_bytes() + b"\0")
    with pytest.raises(RuntimeError, match=MISMATCH):
        make("offline", tmp_path, alone, CLEAN)
