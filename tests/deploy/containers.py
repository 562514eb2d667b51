"""podman in a folder of its own: nothing of the machine's own images and containers is seen or changed."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
IMAGE: Final = "localhost/horae:test"
STAND_INS: Final = Path(__file__).parent / "stand_ins"
PROGRAMS: Final = ("podman", "runc", "mmdebstrap")
CONTAINERS_CONF: Final = """
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
log_driver = "k8s-file"
[network]
network_backend = "netavark"
network_config_dir = "{folder}/networks"
"""
"""Works without systemd, and where limits of processes cannot be raised."""
STORAGE_CONF: Final = """
[storage]
driver = "overlay"
graphroot = "{folder}/graph"
runroot = "{folder}/run"
"""
TIMEOUT_S: Final = 1200


class Podman:
    """Runs podman and programs that use it, with images and containers under one folder."""

    def __init__(self, folder: Path) -> None:
        (folder / "containers.conf").write_text(CONTAINERS_CONF.format(folder=folder))
        (folder / "storage.conf").write_text(STORAGE_CONF.format(folder=folder))
        self.environment = os.environ | {
            "CONTAINERS_CONF": str(folder / "containers.conf"),
            "CONTAINERS_STORAGE_CONF": str(folder / "storage.conf"),
        }

    def run(self, *command: str | Path, folder: Path = ROOT, env: dict[str, str] | None = None) -> str:
        """Returns what a command printed; raises with its words if it failed."""
        done = subprocess.run(
            command,
            cwd=folder,
            env=self.environment | (env or {}),
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_S,
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def __call__(self, *words: str | Path) -> str:
        return self.run("podman", *words).strip()

    def build_image(self, tag: str, dist: Path) -> None:
        """Build the image by `make image`, from this tree."""
        self.run("make", "-o", "console", "image", f"DIST={dist}", f"IMAGE={tag}", f"PYTHON={sys.executable}")

    def build_stand_in(self, name: str, packages: str) -> str:
        """Build the image of another program from Debian's packages; returns its tag."""
        root, tag = f"localhost/horae-test-root:{name}", f"localhost/horae-test-{name}:latest"
        self("import", self.run("tools/image", "root", name, packages).strip(), root)
        self("build", "--quiet", "--format", "docker", "-f", STAND_INS / f"{name}.Dockerfile", "-t", tag, STAND_INS)
        return tag


@contextmanager
def private_podman() -> Iterator[Podman]:
    """A `Podman` during the block; then its containers end and its files are removed.

    Podman restarts no container whose folder has a name of more than 50 characters, as pytest's folders have.
    """
    if missing := [program for program in PROGRAMS if shutil.which(program) is None]:
        raise RuntimeError(f"{', '.join(missing)} cannot be found: run `tools/services containers`")
    if not (ROOT / "src" / "horae" / "console" / "index.html").exists():
        raise RuntimeError("the console is not built: run `make console`")
    folder = Path(tempfile.mkdtemp(prefix="horae-"))
    podman = Podman(folder)
    try:
        yield podman
    finally:
        podman("rm", "--all", "--force", "--time", "5")
        podman("network", "prune", "--force")
        shutil.rmtree(folder, ignore_errors=True)
