"""What we are made of: pinned with hashes, installed as pinned, and listed in the SBOMs; nothing else."""

import json
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HASHED = re.compile(r"^(\S.*) \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.MULTILINE)
LOCKS_OF_NPM = [ROOT / "console" / "package-lock.json", ROOT / "tools" / "sbom" / "package-lock.json"]


def read_sbom(folder: Path, name: str) -> dict[str, str]:
    """The packages of an SBOM with their versions, after a look at what must not be in it."""
    text = (folder / name).read_text()
    assert str(ROOT) not in text
    assert "registry" not in text, "it says what, never where from"
    found = json.loads(text)
    assert (found["bomFormat"], found["specVersion"]) == ("CycloneDX", "1.6")
    assert all(one["licenses"] for one in found["components"])
    return {one["purl"].partition("?")[0]: one["version"] for one in found["components"]}


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_the_sboms_list_what_is_pinned_to_run_and_what_the_console_contains(tmp_path):
    subprocess.run(["make", "sbom", f"DIST={tmp_path}"], cwd=ROOT, check=True)
    run = re.findall(r"^([\w.-]+)==(\S+)(.*?) \\\\$", (ROOT / "requirements" / "run.txt").read_text(), re.MULTILINE)
    needed = {f"pkg:pypi/{name}@{version}" for name, version, marker in run if "win32" not in marker}
    assert set(read_sbom(tmp_path, "horae.cdx.json")) == needed
    lock = json.loads(LOCKS_OF_NPM[0].read_text())["packages"]
    contained = {path.rpartition("node_modules/")[2] for path, one in lock.items() if path and not one.get("dev")}
    listed = {
        purl.partition("pkg:npm/")[2].replace("%40", "@") for purl in read_sbom(tmp_path, "horae-console.cdx.json")
    }
    assert {name.rpartition("@")[0] for name in listed} <= contained
    assert {"antd", "react", "echarts"} <= {name.rpartition("@")[0] for name in listed}


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


@pytest.mark.parametrize("lock", LOCKS_OF_NPM, ids=lambda lock: lock.parent.name)
def test_every_package_of_npm_has_a_hash(lock):
    packages = {name: one for name, one in json.loads(lock.read_text())["packages"].items() if name}
    assert len(packages) > 15
    assert [name for name, one in packages.items() if not one.get("integrity", "").startswith("sha512-")] == []
    assert not any("resolved" in one for one in packages.values()), "it says what, never where from"


def test_packages_of_npm_are_installed_as_locked():
    text = (ROOT / "tools" / "console").read_text() + (ROOT / "Makefile").read_text()
    installs = re.findall(r"\bnpm (ci|install|i)\b", text)
    assert installs == ["ci", "ci"]


def test_setup_installs_only_what_hashes_to_what_was_pinned():
    makefile = (ROOT / "Makefile").read_text()
    installs = re.findall(r"^.*pip install.*$", makefile, re.MULTILINE)
    assert installs
    assert all("--require-hashes" in line or "--no-deps" in line for line in installs)
