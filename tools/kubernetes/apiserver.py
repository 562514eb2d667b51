"""Builds a real kube-apiserver by Go.

Its repository builds from folders beside each other (`staging`), which a downloaded module lacks. So the build takes
the published modules of the same release instead.
"""

import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Final

from cache import cache, go, module_folder

VERSION: Final = "1.34.2"
LIBRARIES: Final = f"v0.{VERSION.partition('.')[2]}"
"""The version of the published modules of that release."""


def build_apiserver() -> Path:
    """Return the path of the program; build it if it is missing. It takes some ten minutes on two cores."""
    program = cache() / f"bin/kube-apiserver-{VERSION}"
    if not program.exists():
        program.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache()) as text:
            source = Path(text) / "source"
            shutil.copytree(module_folder("k8s.io/kubernetes", f"v{VERSION}"), source)
            for path in [source, *source.rglob("*")]:
                path.chmod(0o755 if path.is_dir() else 0o644)
            take_published_modules(source)
            new = Path(text) / "kube-apiserver"
            go(["build", "-mod=mod", "-o", str(new), "./cmd/kube-apiserver"], source)
            os.replace(new, program)
    return program


def take_published_modules(source: Path) -> None:
    """Change `go.mod` so that nothing comes from `staging`."""
    (source / "go.work").unlink(missing_ok=True)
    said = (source / "go.mod").read_text()
    replaced = re.findall(r"^\s*(k8s\.io/\S+) => \./staging", said, re.MULTILINE)
    required = re.findall(r"^\s*(k8s\.io/\S+) v0\.0\.0$", said, re.MULTILINE)
    edits = [f"-dropreplace={module}" for module in replaced]
    edits += [f"-require={module}@{LIBRARIES}" for module in required]
    go(["mod", "edit", *edits], source)
