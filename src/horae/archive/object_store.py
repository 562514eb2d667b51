"""Targets behind `obstore`: a folder of the file system, S3, and what speaks S3's protocol."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, NotFoundError, PreconditionError
from obstore.store import LocalStore, S3Store

from horae.archive.targets import StoredObject
from horae.domain.errors import Invalid, NotFound, Unavailable
from horae.runtime.settings import Settings

if TYPE_CHECKING:
    from obstore.store import S3Config

CONNECT_TIMEOUT: Final = timedelta(seconds=5)
REQUEST_TIMEOUT: Final = timedelta(seconds=60)
"""Time for one request: a data file of 60 MB at 1 MB/s."""
READING_TIMEOUT: Final = timedelta(seconds=5)
"""Time for one request of a reader."""
RETRY_TIMEOUT: Final = timedelta(seconds=90)
MAX_RETRIES: Final = 3
PART_BYTES: Final = 16 << 20
"""Larger objects are sent in parts of this size."""
LISTED_AT_ONCE: Final = 1000
LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


@contextmanager
def _refusals(name: str) -> Iterator[None]:
    """Turn every error of the library into a refusal of ours."""
    try:
        yield
    except (NotFoundError, FileNotFoundError) as error:
        raise NotFound(f"the archive has no {name}") from error
    except (BaseError, OSError) as error:
        reason = str(error).partition("\n")[0][:300]
        raise Unavailable(f"the archive did not answer for {name}: {reason}") from error


class ObjectStoreTarget:
    """A target (`horae.archive.targets.ArchiveTarget`) behind `obstore`."""

    def __init__(self, store: LocalStore | S3Store, folder: Path | None = None) -> None:
        self._store, self._folder = store, folder

    def put(self, name: str, content: bytes) -> None:
        """Write an object."""
        with _refusals(name):
            obstore.put(self._store, name, content, chunk_size=PART_BYTES)
            self._sync(name)

    def create(self, name: str, content: bytes) -> bool:
        """Write an object if there is none with that name, by `If-None-Match: *`."""
        with _refusals(name):
            try:
                obstore.put(self._store, name, content, mode="create", use_multipart=False)
            except (AlreadyExistsError, PreconditionError):
                return False
            self._sync(name)
            return True

    def get(self, name: str) -> bytes:
        """Read an object."""
        with _refusals(name):
            return bytes(obstore.get(self._store, name).bytes())

    def get_range(self, name: str, start: int, length: int) -> bytes:
        """Read a part of an object."""
        with _refusals(name):
            return bytes(obstore.get_range(self._store, name, start=start, length=length))

    def listing(self, prefix: str) -> list[StoredObject]:
        """All objects whose names begin with `prefix`."""
        with _refusals(prefix):
            found = obstore.list(self._store, prefix, chunk_size=LISTED_AT_ONCE)
            return [StoredObject(one["path"], one["size"]) for page in found for one in page]

    def delete(self, name: str) -> None:
        """Delete an object."""
        with suppress(NotFound), _refusals(name):
            obstore.delete(self._store, name)

    def _sync(self, name: str) -> None:
        """Bring a file and its name to the disk: its rows are dropped elsewhere. Object storage does so by itself."""
        if self._folder is not None:
            path = self._folder / name
            for synced in (path, path.parent):
                handle = os.open(synced, os.O_RDONLY)
                try:
                    os.fsync(handle)
                finally:
                    os.close(handle)


def open_target(settings: Settings, *, reading: bool = False) -> ObjectStoreTarget:
    """The target of `HORAE_ARCHIVE`. Raises `Invalid` for an address that leads nowhere.

    `reading`: a person waits for the answer, so a request may take seconds, not a minute.
    """
    address = urlsplit(settings.archive or "")
    if address.scheme == "file" and not address.netloc and address.path.strip("/"):
        folder = Path(unquote(address.path))
        return ObjectStoreTarget(LocalStore(folder, mkdir=True), folder)
    if address.scheme == "s3" and address.netloc:
        return ObjectStoreTarget(_s3(settings, address.netloc, address.path.strip("/"), reading=reading))
    raise Invalid(f"HORAE_ARCHIVE is file:///folder or s3://bucket/prefix, not {settings.archive!r}")


def _s3(settings: Settings, bucket: str, prefix: str, *, reading: bool) -> S3Store:
    endpoint = urlsplit(settings.archive_endpoint or "https:")
    is_local = endpoint.hostname in LOOPBACK or settings.environment != "production"
    if endpoint.scheme != "https" and not (endpoint.scheme == "http" and is_local):
        raise Invalid("HORAE_ARCHIVE_ENDPOINT must begin with https://; http:// only to this machine or for tests")
    config: S3Config = {"region": settings.archive_region}
    if settings.archive_endpoint is not None:
        config["endpoint"] = settings.archive_endpoint
    if settings.archive_key_id:
        config |= {"access_key_id": settings.archive_key_id, "secret_access_key": settings.archive_secret}
    return S3Store(
        bucket,
        prefix=prefix or None,
        config=config,
        client_options={
            "connect_timeout": READING_TIMEOUT if reading else CONNECT_TIMEOUT,
            "timeout": READING_TIMEOUT if reading else REQUEST_TIMEOUT,
            "allow_http": endpoint.scheme == "http",
        },
        retry_config={
            "max_retries": 1 if reading else MAX_RETRIES,
            "retry_timeout": READING_TIMEOUT if reading else RETRY_TIMEOUT,
        },
    )
