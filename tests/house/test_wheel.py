"""The wheel has the console in it, although git does not."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUILD = "import hatchling.build, sys; print(hatchling.build.build_wheel(sys.argv[1]))"


def test_what_was_built_of_the_console_is_in_the_wheel(tmp_path):
    tree, wheels = tmp_path / "tree", tmp_path / "wheels"
    shutil.copytree(ROOT / "src", tree / "src", ignore=shutil.ignore_patterns("__pycache__", "console"))
    for name in ("pyproject.toml", "README.md", "LICENSE", ".gitignore"):
        shutil.copy(ROOT / name, tree / name)
    (tree / "src/horae/console/assets").mkdir(parents=True)
    for name in ("index.html", "assets/index-1a2b3c4d.js", "assets/index-1a2b3c4d.js.gz"):
        (tree / "src/horae/console" / name).write_text(name)
    wheels.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", BUILD, str(wheels)], cwd=tree, capture_output=True, text=True, check=True
    )
    names = set(zipfile.ZipFile(wheels / done.stdout.split()[-1]).namelist())
    assert {f"horae/console/{name}" for name in ("index.html", "assets/index-1a2b3c4d.js.gz")} <= names
    assert "horae/api/console.py" in names
