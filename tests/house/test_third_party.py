"""THIRD_PARTY.txt has the licence of everything that the wheels contain or install, and each licence lets us."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "THIRD_PARTY.txt").read_text()
LISTED = re.compile(r"^(\S+) (\S+): (.+)$", re.MULTILINE)
FREE = {
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "PSF-2.0",
    "Unlicense",
}
"""Permissive licences, and one with a weak copyleft, by their SPDX names."""


def lists() -> tuple[list[tuple[str, str, str]], list[tuple[str, str, str]]]:
    """Name, version and licence of each package: of the console, and of the wheels."""
    head = TEXT.split("\n" + "-" * 100)[0]
    console, wheels = head.split("Installed with the wheels")
    return LISTED.findall(console), LISTED.findall(wheels)


def test_no_package_of_the_console_is_missing():
    lock = json.loads((ROOT / "console" / "package-lock.json").read_text())["packages"]
    contained = {
        (path.rpartition("node_modules/")[2], one["version"])
        for path, one in lock.items()
        if path and not one.get("dev") and not one.get("optional")
    }
    assert {(name, version) for name, version, _ in lists()[0]} == contained


def test_no_package_that_is_pinned_to_run_is_missing():
    pins = re.findall(r"^([\w.-]+)==(\S+)(.*)$", (ROOT / "requirements" / "run.txt").read_text(), re.MULTILINE)
    pinned = {(name, version) for name, version, marker in pins if not re.search("win32|'nt'|== 'emscripten'", marker)}
    assert pinned <= {(name, version) for name, version, _ in lists()[1]}


@pytest.mark.parametrize("name_version_licence", [*lists()[0], *lists()[1]], ids=lambda one: one[0])
def test_each_licence_is_permissive_or_a_weak_copyleft(name_version_licence):
    named = re.split(r" AND | OR |[()]", name_version_licence[2])
    assert {one.strip() for one in named if one.strip()} <= FREE


def test_the_file_is_as_the_tool_writes_it():
    if not (ROOT / "console" / "node_modules").exists():
        pytest.skip("the packages of the console are not installed: make console")
    made = subprocess.run(
        [sys.executable, ROOT / "tools" / "third_party.py"], check=True, capture_output=True, text=True
    )
    assert made.stdout == TEXT, "run `make third-party`"
