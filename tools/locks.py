"""Reads the lock files in `requirements/`."""

import re
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PIN = re.compile(
    r"^(?P<what>[A-Za-z0-9][^\\]*?) \\\n(?P<hashes>(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.MULTILINE
)
HASH = re.compile(r"sha256:([0-9a-f]{64})")


class Pin(NamedTuple):
    """One line of a lock file."""

    name: str
    version: str
    hashes: tuple[str, ...]


def pins(lock: Path) -> list[Pin]:
    """What a lock file pins for this platform."""
    found = []
    for match in PIN.finditer(lock.read_text()):
        wanted = Requirement(match["what"])
        if wanted.marker is None or wanted.marker.evaluate():
            [only] = wanted.specifier
            found.append(
                Pin(canonicalize_name(wanted.name), only.version, tuple(sorted(HASH.findall(match["hashes"]))))
            )
    return sorted(found)
