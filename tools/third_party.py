"""Writes the licences of everything that the wheels contain or install: `make third-party > THIRD_PARTY.txt`.

The npm packages are those that the console may contain: all packages of its lock that are no tools of development. The
Python packages are those that the two wheels need to run, as their own metadata says. Equal texts stand once. The same
tree writes the same bytes.
"""

import json
import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Final, NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT: Final = Path(__file__).parents[1]
PROJECTS: Final = (ROOT / "pyproject.toml", ROOT / "sdk" / "python" / "pyproject.toml")
CONSOLE: Final = ROOT / "console"
NOTICE: Final = re.compile(r"(licen[cs]e|copying|notice|copyright)([.\-_].*)?", re.IGNORECASE)
NAMES: Final = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}
"""SPDX names of classifiers, for packages whose metadata has no SPDX expression."""
INTRODUCTION: Final = """\
Third-party software of Horae

Horae is licensed under Apache-2.0 (see LICENSE). Its wheels contain or install the software below. `make third-party`
writes this file.
"""


class Package(NamedTuple):
    """A package with its licence as an SPDX expression, and the texts that it brings."""

    name: str
    version: str
    licence: str
    texts: tuple[str, ...]


def npm_packages(console: Path = CONSOLE) -> list[Package]:
    """The packages that the console may contain."""
    lock = json.loads((console / "package-lock.json").read_text())["packages"]
    found = {}
    for path, facts in lock.items():
        if path and not facts.get("dev") and not facts.get("optional"):
            name = path.rpartition("node_modules/")[2]
            texts = tuple(_texts(sorted((console / path).iterdir())))
            found[name, facts["version"]] = Package(name, facts["version"], facts["license"], texts)
    return [found[key] for key in sorted(found)]


def python_packages() -> list[Package]:
    """The packages that the wheels of server and client need to run, without our own."""
    found: dict[str, Package] = {}
    for project in PROJECTS:
        for line in tomllib.loads(project.read_text())["project"]["dependencies"]:
            _add(Requirement(line), found)
    return [found[name] for name in sorted(found) if name not in ("horae", "horae-client")]


def _add(wanted: Requirement, found: dict[str, Package]) -> None:
    name = canonicalize_name(wanted.name)
    if name in found:
        return
    installed = distribution(name)
    files = [Path(str(file.locate())) for file in installed.files or [] if ".dist-info/" in str(file)]
    texts = tuple(_texts(sorted(file for file in files if file.is_file())))
    found[name] = Package(name, installed.version, licence_of(installed), texts)
    extras = wanted.extras or {""}
    for inner in map(Requirement, installed.requires or []):
        if inner.marker is None or any(inner.marker.evaluate({"extra": extra}) for extra in extras):
            _add(inner, found)


def licence_of(installed: Distribution) -> str:
    """The SPDX expression of a package, from the newest field of its metadata that names one."""
    facts = installed.metadata
    if expression := facts.get("License-Expression"):
        return str(expression)
    lines = [line for line in facts.get_all("Classifier", []) if line.startswith("License ::")]
    named = sorted({NAMES.get(name, name) for name in (line.rpartition(" :: ")[2] for line in lines)})
    return " AND ".join(named) or (facts.get("License") or "unknown").strip().partition("\n")[0]


def _texts(files: list[Path]) -> Iterator[str]:
    for file in files:
        if NOTICE.fullmatch(file.name) and file.is_file():
            yield "\n".join(line.rstrip() for line in file.read_text("utf-8", "replace").strip().splitlines())


def document() -> Iterator[str]:
    """The parts of the file: two lists, then each text with the packages that it belongs to."""
    yield INTRODUCTION
    packages = []
    parts = (("Contained in the console (npm)", npm_packages()), ("Installed with the wheels", python_packages()))
    for heading, listed in parts:
        packages += listed
        yield "\n".join([heading, "=" * len(heading), *(f"{one.name} {one.version}: {one.licence}" for one in listed)])
    owners: dict[str, list[str]] = {}
    for one in packages:
        for text in one.texts:
            owners.setdefault(text, []).append(one.name)
    for text, names in owners.items():
        yield f"{'-' * 100}\n{', '.join(sorted(set(names)))}\n{'-' * 100}\n{text}"


if __name__ == "__main__":
    print("\n\n".join(document()))
