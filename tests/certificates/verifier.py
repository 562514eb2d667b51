"""The stand-alone script: in a process of its own, and in this one where many bundles are verified."""

import importlib.util
import subprocess
import sys
from pathlib import Path

FILE = Path(__file__).parents[2] / "docs" / "verify_certificate.py"


def run(*args: object) -> subprocess.CompletedProcess[str]:
    """Run the script in a process that finds no package but the standard library."""
    told = [sys.executable, "-I", "-S", str(FILE), *map(str, args)]
    return subprocess.run(told, capture_output=True, text=True, check=False)


def complaint_about(*args: object) -> str | None:
    """Return the sentence with which the script refuses a bundle; None where it finds nothing."""
    try:
        _SCRIPT.verify(*map(str, args))
    except SystemExit as found:
        return str(found)
    return None


def _loaded():
    spec = importlib.util.spec_from_file_location("verify_certificate", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_SCRIPT = _loaded()


def is_signed(public: bytes, content: bytes, signature: bytes) -> bool:
    """Whether the script's own Ed25519 finds the signature right."""
    return bool(_SCRIPT.is_signed(public, content, signature))


def is_on_time(row: dict[str, object]) -> bool:
    """Whether the script counts a row as on time."""
    return bool(_SCRIPT.result_of(row)[0] == "on_time")
