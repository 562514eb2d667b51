"""A real S3 server for tests: versitygw over a folder, on a free port. `tools/services` builds it."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import pytest

from horae.runtime.settings import Settings

PROGRAM = Path.home() / ".cache" / "horae" / "bin" / "versitygw"
KEY_ID, SECRET = "archive-test", "a-secret-of-the-tests"


class S3Server(NamedTuple):
    """A running server and the folder whose sub-folders are its buckets."""

    port: int
    folder: Path

    def settings(self) -> Settings:
        """The settings of an archive in a new bucket."""
        bucket = f"archive-{uuid4().hex[:12]}"
        (self.folder / bucket).mkdir()
        return Settings(
            archive=f"s3://{bucket}/some/prefix",
            archive_endpoint=f"http://127.0.0.1:{self.port}",
            archive_key_id=KEY_ID,
            archive_secret=SECRET,
            environment="test",
        )


def program() -> str | None:
    return str(PROGRAM) if PROGRAM.exists() else shutil.which("versitygw")


@contextmanager
def s3_server(folder: Path) -> Iterator[S3Server]:
    found = program()
    if found is None:
        pytest.skip("versitygw is not here: tools/services builds it")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = os.environ | {"ROOT_ACCESS_KEY": KEY_ID, "ROOT_SECRET_KEY": SECRET}
    command = [found, "--port", f"127.0.0.1:{port}", "posix", str(folder)]
    with (folder.parent / "versitygw.log").open("wb") as output:
        server = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
        try:
            _wait(port, server)
            yield S3Server(port, folder)
        finally:
            server.terminate()
            server.wait(10)


def _wait(port: int, server: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + 20
    while time.monotonic() < until and server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError("versitygw did not start")
