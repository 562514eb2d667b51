"""The cache of the tools, and Go in it."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

SHARED: Final = Path("/var/cache")


def cache() -> Path:
    """Return the folder of all that is installed and built here."""
    home = SHARED if os.getuid() == 0 else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = home / "horae/kubernetes"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def go(words: Sequence[str], folder: Path | None = None, **variables: str) -> str:
    """Run Go outside of any module of ours, and return what it prints. Go checks each module by its public log."""
    environment: Mapping[str, str] = os.environ | {"GOFLAGS": "-buildvcs=false", "GOWORK": "off"} | variables
    done = subprocess.run(
        ["go", *words], cwd=folder or cache(), env=environment, check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout


def module_folder(module: str, version: str) -> Path:
    """Return the folder of a downloaded module."""
    go(["mod", "download", f"{module}@{version}"])
    modules = Path(go(["env", "GOMODCACHE"]).strip())
    return modules / f"{module}@{version}"
