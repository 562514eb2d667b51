"""What tests, tools and examples import is pinned: a package installed by hand would hide that it is missing."""

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("src", "sdk/python/src", "tests", "benchmarks", "tools", "examples")
PINNED = set(re.findall(r"^([a-z0-9-]+)==", (ROOT / "requirements" / "dev.txt").read_text(), re.MULTILINE))
NAMED_OTHERWISE = {
    "grpc": "grpcio",
    "nats": "nats-py",
    "opentelemetry": "opentelemetry-sdk",
    "xdist": "pytest-xdist",
    "yaml": "pyyaml",
}
"""Modules whose package has another name."""
ONLY_PLANTED = "tools/semgrep/planted.py"
"""Faults for the rules to find; nobody runs it."""


def top_modules(source: str) -> set[str]:
    """The first part of every module that a file imports."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                found |= {alias.name.partition(".")[0] for alias in names}
            case ast.ImportFrom(module=str(module), level=0):
                found.add(module.partition(".")[0])
    return found


def test_every_imported_package_is_pinned_for_development():
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    ours = {path.stem for path in files} | {parent.name for path in files for parent in path.parents}
    for path in files:
        if path == ROOT / ONLY_PLANTED:
            continue
        for module in top_modules(path.read_text()) - ours - sys.stdlib_module_names:
            assert NAMED_OTHERWISE.get(module, module.replace("_", "-")) in PINNED, (path, module)
