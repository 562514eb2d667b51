"""The wheel has the console and the licences in it, although git has no console; without it nothing is built."""

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD = "import hatchling.build, sys; print(getattr(hatchling.build, sys.argv[1])(sys.argv[2]))"
FILES = ("pyproject.toml", "README.md", "README.zh-CN.md", "CHANGELOG.md", "LICENSE", "THIRD_PARTY.txt", ".gitignore")


@pytest.fixture
def tree(tmp_path):
    """A checkout without a console."""
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__", "console"))
    for name in (*FILES, "hatch_build.py"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def build(tree: Path, kind: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", BUILD, kind, str(tree)]
    return subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)


def test_what_was_built_of_the_console_is_in_the_wheel_and_so_are_the_licences(tree):
    (tree / "src/horae/console/assets").mkdir(parents=True)
    for name in ("index.html", "assets/index-1a2b3c4d.js", "assets/index-1a2b3c4d.js.gz"):
        (tree / "src/horae/console" / name).write_text(name)
    done = build(tree, "build_wheel")
    assert done.returncode == 0, done.stderr
    names = set(zipfile.ZipFile(tree / done.stdout.split()[-1]).namelist())
    assert {f"horae/console/{name}" for name in ("index.html", "assets/index-1a2b3c4d.js.gz")} <= names
    assert "horae/api/console.py" in names
    assert {name.rpartition("/")[2] for name in names if "/licenses/" in name} == {"LICENSE", "THIRD_PARTY.txt"}


def test_the_sdist_has_the_sources_of_the_server_and_nothing_else(tree):
    for name in ("src/horae/console/index.html", "console/src/main.tsx", "sdk/python/src/horae_client/__init__.py"):
        (tree / name).parent.mkdir(parents=True)
        (tree / name).write_text(name)
    done = build(tree, "build_sdist")
    assert done.returncode == 0, done.stderr
    with tarfile.open(tree / done.stdout.split()[-1]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert "src/horae/console/index.html" in names
    assert {name.partition("/")[0] for name in names} == {*FILES, "hatch_build.py", "src", "PKG-INFO"}


@pytest.mark.parametrize("kind", ["build_wheel", "build_sdist"])
def test_without_a_console_nothing_is_built(tree, kind):
    done = build(tree, kind)
    assert done.returncode != 0
    assert "The console is not built" in done.stderr
    assert "make dist" in done.stderr
    assert not [*tree.glob("*.whl"), *tree.glob("*.tar.gz")]


def test_an_editable_installation_needs_no_console(tree):
    done = build(tree, "build_editable")
    assert done.returncode == 0, done.stderr
