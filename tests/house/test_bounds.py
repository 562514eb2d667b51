"""A package whose inside we use has an upper bound: its next version may change what no promise covers."""

import ast
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
BOUNDS = {canonicalize_name(one.name): one for one in map(Requirement, PROJECT["dependencies"])}
INSIDE = {
    "asyncpg": (r"pool\._holders", r"\._transport", r"connect_utils", r"register_data_types"),
    "fastapi": (r"\.dependant\b", r"\.body_field\b", r"fastapi\.openapi\.utils"),
    "starlette": (r"starlette\.types", r"starlette\.datastructures"),
    "uvicorn": (r"HttpToolsProtocol", r"STATUS_LINE"),
}
"""What we use that the documentation of its package does not promise."""
PUBLIC = ("cryptography.hazmat.",)
"""Deep modules whose documentation names them as the way in."""


def sources():
    return {path: path.read_text() for path in sorted((ROOT / "src" / "horae").rglob("*.py"))}


@pytest.mark.parametrize("name", INSIDE)
def test_what_we_use_the_inside_of_has_an_upper_bound_that_the_pinned_version_meets(name):
    text = "".join(sources().values())
    assert all(re.search(pattern, text) for pattern in INSIDE[name]), "used no longer: take it off the list"
    assert {one.operator for one in BOUNDS[name].specifier} == {">=", "<"}
    [pinned] = re.findall(rf"^{name}==(\S+)", (ROOT / "requirements" / "run.txt").read_text(), re.MULTILINE)
    assert Version(pinned) in BOUNDS[name].specifier


def test_nothing_else_is_imported_from_deep_inside_a_package():
    deep = set()
    for text in sources().values():
        for node in ast.walk(ast.parse(text)):
            modules = [node.module] if isinstance(node, ast.ImportFrom) else []
            modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            deep |= {module for module in modules if module and ("._" in module or module.count(".") > 1)}
    deep = {module for module in deep if not module.startswith((*PUBLIC, "horae_client."))}  # the client is ours
    packages = {canonicalize_name(module.partition(".")[0]) for module in deep}
    assert packages & set(BOUNDS) <= set(INSIDE)
