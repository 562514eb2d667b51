"""Renders of the chart that are committed: a reviewer sees what a change of a template does.

The first line of a render has the digest of the chart and of its values. So the suite notices a stale render without
helm.
"""

import hashlib
import subprocess
from pathlib import Path
from typing import Final

from programs import PROGRAMS, install_programs

ROOT: Final = Path(__file__).parents[2]
CHART: Final = ROOT / "deploy/helm/horae"
VALUES: Final = ROOT / "tests/deploy/values"
GOLDEN: Final = ROOT / "tests/deploy/golden"
RELEASE: Final = ("horae", "--namespace", "scheduling", "--kube-version", "1.34.0")


def write_renders() -> Path:
    """Write the render of each file of values, and return their folder."""
    GOLDEN.mkdir(exist_ok=True)
    for values in sorted(VALUES.glob("*.yaml")):
        (GOLDEN / values.name).write_text(render(values))
    return GOLDEN


def render(values: Path) -> str:
    """Return what helm makes of a file of values, under a line with the digest."""
    command = [install_programs() / "helm", "template", *RELEASE, "--include-crds", CHART, "--values", values]
    return f"{first_line(values)}\n{subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout}"


def first_line(values: Path) -> str:
    """Return the first line of a render: of which chart and values it is, and by which helm."""
    return f"# tools/kubernetes render: chart and values {digest(values)}, helm {PROGRAMS['helm'].partition('@')[2]}"


def digest(values: Path) -> str:
    """Return a hash over the files of the chart that a render depends on, and over a file of values."""
    parts = [path for path in sorted(CHART.rglob("*")) if path.is_file() and path.name != "README.md"]
    made = hashlib.sha256()
    for path in [*parts, values]:
        made.update(f"{path.relative_to(ROOT)}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return made.hexdigest()[:16]
