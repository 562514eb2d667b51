"""What we are made of: pinned with hashes, installed as pinned, and listed in the SBOM; nothing else."""

import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
HASHED = re.compile(r"^(\S.*) \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.MULTILINE)
FREE = re.compile(r"\b(MIT|BSD|Apache|PSF|ISC|MPL|Python Software Foundation)\b")


@pytest.fixture(scope="module")
def sbom():
    said = subprocess.run([sys.executable, ROOT / "tools" / "sbom.py"], capture_output=True, check=True).stdout
    return json.loads(said)


def installed(wanted: Requirement) -> dict[str, str]:
    """A part and all it needs to run, as its own metadata says, and with no lock's help."""
    found = {canonicalize_name(wanted.name): distribution(wanted.name).version}
    extras = wanted.extras or {""}
    for inner in map(Requirement, distribution(wanted.name).requires or []):
        if inner.marker is None or any(inner.marker.evaluate({"extra": extra}) for extra in extras):
            found |= installed(inner)
    return found


def test_the_sbom_lists_what_is_installed_to_run_and_nothing_else(sbom):
    listed = {one["name"]: one["version"] for one in sbom["components"]}
    needed: dict[str, str] = {}
    for line in PROJECT["dependencies"]:
        needed |= installed(Requirement(line))
    assert listed == needed
    assert sbom["metadata"]["component"]["version"] == PROJECT["version"]


def test_every_part_of_the_sbom_has_hashes_an_address_and_a_licence_that_lets_us(sbom):
    assert (sbom["bomFormat"], sbom["specVersion"]) == ("CycloneDX", "1.6")
    for one in sbom["components"]:
        assert one["hashes"], one["name"]
        assert one["purl"] == f"pkg:pypi/{one['name']}@{one['version']}"
        assert all(FREE.search(str(licence)) for licence in one["licenses"]), one
    refs = {one["bom-ref"] for one in (sbom["metadata"]["component"], *sbom["components"])}
    assert {one["ref"] for one in sbom["dependencies"]} == refs
    assert {ref for one in sbom["dependencies"] for ref in one["dependsOn"]} <= refs


@pytest.mark.parametrize("lock", sorted((ROOT / "requirements").glob("*.txt")), ids=lambda lock: lock.name)
def test_every_pin_has_hashes_and_says_nothing_about_where_it_comes_from(lock):
    text = lock.read_text()
    pins = re.findall(r"^\S.*$", text, re.MULTILINE)
    assert pins
    for pin in pins:
        assert re.match(r"[\w.\[\],-]+==[\w.+!]+( ;[^\\]+)? \\$", pin), pin
    assert len(HASHED.findall(text)) == len(pins), "every pin is followed by a hash"
    assert "://" not in text


def test_what_is_pinned_twice_is_pinned_alike():
    run, quick, image, dev = (
        set(HASHED.findall((ROOT / "requirements" / f"{name}.txt").read_text()))
        for name in ("run", "quick", "image", "dev")
    )
    assert run <= dev, "what is tested is what runs"
    assert quick <= dev, "another Python tests the same versions"
    assert run <= quick
    assert run <= image <= dev, "the container image has what is tested"


def test_every_package_of_the_console_has_a_hash_and_is_installed_as_locked():
    lock = json.loads((ROOT / "console" / "package-lock.json").read_text())
    packages = {name: one for name, one in lock["packages"].items() if name}
    assert len(packages) > 100
    assert [name for name, one in packages.items() if not one.get("integrity", "").startswith("sha512-")] == []
    installs = re.findall(r"^\s*npm (?:ci|install|i)\b.*$", (ROOT / "tools" / "console").read_text(), re.MULTILINE)
    assert [line.split()[:2] for line in installs] == [["npm", "ci"]]


def test_setup_installs_only_what_hashes_to_what_was_pinned():
    makefile = (ROOT / "Makefile").read_text()
    installs = re.findall(r"^.*pip install.*$", makefile, re.MULTILINE)
    assert installs
    assert all("--require-hashes" in line or "--no-deps" in line for line in installs)
