"""A clean Debian 12 in a folder of its own, with its own processes and, if wanted, its own network."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[2]
BASE = Path("/var/cache/horae/debian/bookworm.tar")
"""The base of every clean Debian: made once, kept outside of the tree."""
SYSTEMCTL = ROOT / "tests" / "start" / "systemctl.py"
QUIET_APT = 'DPkg::Options:: "--force-confold";\nAPT::Install-Recommends "false";\nAPT::Sandbox::User "root";\n'
ENTER = "mount --rbind /dev {root}/dev && mount -t proc proc {root}/proc && exec chroot {root} bash -e -x {script}"
ALONE = "ip link set lo up && echo 0 > /proc/sys/net/ipv4/ip_unprivileged_port_start && "
"""In a network of its own no port is taken, and the proxy may have 443 without root."""


class CleanDebian:
    """A root folder. `run` runs a script in it; whatever the script has started ends with it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def run(self, script: str, *, alone: bool, timeout_s: float) -> str:
        """Run a script as root; `alone`: without the network of this machine. Returns all that it prints."""
        (self.root / "root" / "script.sh").write_text("cd /root/horae\n" + script)
        enter = ENTER.format(root=self.root, script="/root/script.sh")
        network = ["--net"] if alone else []
        done = subprocess.run(
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", *network, "bash", "-c", ALONE * alone + enter],
            env={
                "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                "HOME": "/root",
                "DEBIAN_FRONTEND": "noninteractive",
                **{
                    name: value for name, value in os.environ.items() if name.startswith("PIP_") and "LINKS" not in name
                },
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=timeout_s,
        )
        assert done.returncode == 0, done.stdout[-8000:]
        return done.stdout


@contextmanager
def clean_debian(wheels: Path) -> Iterator[CleanDebian]:
    """A new system with the built packages and `deploy` in /root/horae, and nothing else of ours."""
    if not BASE.exists():
        BASE.parent.mkdir(parents=True, exist_ok=True)
        lenient = '--aptopt=Acquire::Check-Valid-Until "false"'
        new = BASE.with_suffix(".new.tar")
        command = ["mmdebstrap", "--variant=minbase", lenient, "--include=ca-certificates", "bookworm", new]
        subprocess.run(command, check=True, timeout=900)
        new.rename(BASE)
    with TemporaryDirectory(prefix="horae-debian-") as folder:
        root = Path(folder) / "root"
        root.mkdir()
        subprocess.run(["tar", "-C", root, "--exclude=./dev/*", "-xf", BASE], check=True)
        here = root / "root" / "horae"
        (here / "dist").mkdir(parents=True)
        for wheel in wheels.glob("*.whl"):
            (here / "dist" / wheel.name).write_bytes(wheel.read_bytes())
        subprocess.run(["cp", "-r", ROOT / "deploy", here], check=True)
        (root / "etc" / "resolv.conf").write_bytes(Path("/etc/resolv.conf").read_bytes())
        authorities = Path("/etc/ssl/certs/ca-certificates.crt")  # of a mirror that this machine may use
        (root / authorities.relative_to("/")).write_bytes(authorities.read_bytes())
        (root / "etc" / "apt" / "apt.conf.d" / "99quiet").write_text(QUIET_APT)
        systemctl = root / "usr" / "local" / "bin" / "systemctl"
        systemctl.write_bytes(SYSTEMCTL.read_bytes())
        systemctl.chmod(0o755)
        yield CleanDebian(root)
