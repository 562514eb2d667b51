"""Writes what a deployment of Horae is made of as CycloneDX 1.6: `make sbom`.

What is pinned in `requirements/run.txt`, with its hashes, and what is installed here must be the same: the licence and
the dependencies of each part are read from the installed one. The same tree writes the same bytes.
"""

import json
import re
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PINS = ROOT / "requirements" / "run.txt"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PIN = re.compile(
    r"^(?P<what>[A-Za-z0-9][^\\]*?) \\\n(?P<hashes>(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.MULTILINE
)
HASH = re.compile(r"sha256:([0-9a-f]{64})")


class Pin(NamedTuple):
    """One line of the lock file."""

    name: str
    version: str
    hashes: tuple[str, ...]


def pins(lock: Path = PINS) -> list[Pin]:
    """What is pinned for this platform."""
    found = []
    for match in PIN.finditer(lock.read_text()):
        wanted = Requirement(match["what"])
        if wanted.marker is None or wanted.marker.evaluate():
            [only] = wanted.specifier
            found.append(
                Pin(canonicalize_name(wanted.name), only.version, tuple(sorted(HASH.findall(match["hashes"]))))
            )
    return sorted(found)


def licences(found: Distribution) -> list[dict[str, Any]]:
    """As its metadata says, in the newest way it says it."""
    said = found.metadata
    if expression := said.get("License-Expression"):
        return [{"expression": expression}]
    classified = [
        line.rpartition(" :: ")[2] for line in said.get_all("Classifier", []) if line.startswith("License ::")
    ]
    named = classified or [(said.get("License") or "unknown").strip().partition("\n")[0]]
    return [{"license": {"name": name}} for name in named]


def needs(lines: Iterable[str], known: dict[str, Pin]) -> list[str]:
    """Which of the pinned parts these requirements name."""
    wanted = map(Requirement, lines)
    needed = {canonicalize_name(one.name) for one in wanted if one.marker is None or one.marker.evaluate({"extra": ""})}
    return [purl(known[name]) for name in sorted(needed & set(known))]


def purl(pin: Pin) -> str:
    """Its address in every database of advisories."""
    return f"pkg:pypi/{pin.name}@{pin.version}"


def component(pin: Pin) -> dict[str, Any]:
    """One part, which must be installed as it is pinned."""
    found = distribution(pin.name)
    if found.version != pin.version:
        raise SystemExit(f"{pin.name} is pinned to {pin.version}, but {found.version} is installed: run `make setup`")
    return {
        "type": "library",
        "bom-ref": purl(pin),
        "name": pin.name,
        "version": pin.version,
        "purl": purl(pin),
        "licenses": licences(found),
        "hashes": [{"alg": "SHA-256", "content": one} for one in pin.hashes],
    }


def document() -> dict[str, Any]:
    """The whole."""
    known = {pin.name: pin for pin in pins()}
    root = Pin(PROJECT["name"], PROJECT["version"], ())
    wanted = {pin: distribution(pin.name).requires or [] for pin in known.values()}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": purl(root),
                "name": root.name,
                "version": root.version,
                "purl": purl(root),
                "licenses": [{"expression": PROJECT["license"]}],
            }
        },
        "components": [component(pin) for pin in known.values()],
        "dependencies": [
            {"ref": purl(pin), "dependsOn": needs(lines, known)}
            for pin, lines in [(root, PROJECT["dependencies"]), *wanted.items()]
        ],
    }


if __name__ == "__main__":
    try:
        print(json.dumps(document(), indent=2))
    except PackageNotFoundError as missing:
        sys.exit(f"{missing} is pinned but not installed: run `make setup`")
