"""A key engine of one's own for a test, ended by its own pid."""

import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

TOKEN = "engine-token-5Yk2"


class KeyEngine:
    """A running engine."""

    def __init__(self, process: "subprocess.Popen[str]", port: int) -> None:
        self._process = process
        self.url = f"http://127.0.0.1:{port}"

    def rotate(self, key: str) -> None:
        """Its keys get a new version."""
        request = urllib.request.Request(
            f"{self.url}/v1/transit/keys/{key}/rotate", data=b"{}", headers={"X-Vault-Token": TOKEN}
        )
        with urllib.request.urlopen(request, timeout=5):
            pass

    def end(self) -> None:
        """It is gone."""
        self._process.kill()
        self._process.wait()


@contextmanager
def key_engine() -> Iterator[KeyEngine]:
    words = [sys.executable, "-m", "tests.delivery.transit_server", TOKEN]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    engine = KeyEngine(process, int(process.stdout.readline()))
    try:
        yield engine
    finally:
        engine.end()
        process.stdout.close()
