"""Installs helm and kubeconform by Go."""

from pathlib import Path
from typing import Final

from cache import cache, go

PROGRAMS: Final = {
    "kubeconform": "github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0",
    "helm": "helm.sh/helm/v4/cmd/helm@v4.3.1",
}


def install_programs() -> Path:
    """Return the folder of the programs; install those that are missing. It takes some five minutes on two cores."""
    folder = cache() / "bin"
    for name, source in PROGRAMS.items():
        versioned = folder / f"{name}-{source.partition('@')[2]}"
        if not versioned.exists():
            go(["install", source], GOBIN=str(folder))
            (folder / name).rename(versioned)
        link = folder / name
        link.unlink(missing_ok=True)
        link.symlink_to(versioned.name)
    return folder
