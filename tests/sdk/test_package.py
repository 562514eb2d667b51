"""The package as it is shipped: by itself, typed, documented, its twins and its reference current."""

import ast
import runpy
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
HOME = ROOT / "sdk/python/src/horae_client"


def test_nothing_of_the_server_is_imported():
    for path in HOME.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not [name for name in names if name.split(".")[0] == "horae"], path


def test_the_asynchronous_verbs_are_those_of_the_others():
    made = runpy.run_path(str(ROOT / "tools/twins"))["made"]()
    assert made
    for path, text in made.items():
        assert path.read_text() == text, f"tools/twins would write {path.name} anew"


def test_the_reference_is_current():
    made = runpy.run_path(str(ROOT / "tools/reference"))["page"]()
    assert (ROOT / "docs/sdk/reference.md").read_text() == made, "tools/reference would write it anew"


def test_the_wheel_is_typed_and_imports_alone(tmp_path):
    build = "import hatchling.build, sys; print(hatchling.build.build_wheel(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", build, str(tmp_path)],
        cwd=ROOT / "sdk/python",
        capture_output=True,
        text=True,
        check=True,
    )
    wheel = tmp_path / done.stdout.split()[-1]
    names = zipfile.ZipFile(wheel).namelist()
    assert "horae_client/py.typed" in names
    alone = f"import sys; sys.path.insert(0, {str(wheel)!r}); import horae_client; print(horae_client.__file__)"
    told = subprocess.run([sys.executable, "-c", alone], capture_output=True, text=True, check=True)
    assert wheel.name in told.stdout
