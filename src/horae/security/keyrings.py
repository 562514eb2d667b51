"""A keyring: a file with several named keys, one of them current, that only its owner may read.

`create` and `rotate` write it. A process reads it again when the file has changed, or when it meets an unknown key. So
a new key is in use everywhere without a restart.
"""

import base64
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from horae.domain.errors import Conflict, Invalid, KeysUnavailable, NotFound, Unopenable
from horae.runtime.telemetry import log

KEY_BYTES: Final = 32
NONCE_BYTES: Final = 12
FOR_ITS_OWNER: Final = 0o600
ROOT_UID: Final = 0
ABOUT: Final = b"horae keyring\0"
"""The beginning of the associated data; the name of the key follows."""


class Ring(NamedTuple):
    """The content of a keyring file: the keys by name, and the name of the key that wraps."""

    current: str
    keys: Mapping[str, bytes]

    def __repr__(self) -> str:
        return f"Ring({self.current!r} of {len(self.keys)})"


class Keyring:
    """A provider of key-encryption keys from a file."""

    name = "keyring"

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, int] | None = None
        self._ring = self._read()

    async def current(self) -> str:
        """Return the name of the current key, with a colon."""
        return f"{self._fresh().current}:"

    async def wrap(self, clear: bytes) -> str:
        """Wrap bytes under the current key; the text begins with its name."""
        ring = self._fresh()
        nonce = os.urandom(NONCE_BYTES)
        text = AESGCM(ring.keys[ring.current]).encrypt(nonce, clear, ABOUT + ring.current.encode())
        return f"{ring.current}:{base64.b64encode(nonce + text).decode()}"

    async def unwrap(self, wrapped: str) -> bytes:
        """Unwrap a text with the key that it names."""
        name, _, text = wrapped.partition(":")
        key = self._ring.keys.get(name) or self._fresh().keys.get(name)
        if key is None:
            raise KeysUnavailable(f"the keyring has no key {name!r}")
        try:
            raw = base64.b64decode(text, validate=True)
            return AESGCM(key).decrypt(raw[:NONCE_BYTES], raw[NONCE_BYTES:], ABOUT + name.encode())
        except (ValueError, InvalidTag) as error:
            raise Unopenable(f"a data key does not open with the key {name!r} it names") from error

    async def rewrap(self, wrapped: str) -> str:
        """Wrap the same bytes under the current key."""
        return await self.wrap(await self.unwrap(wrapped))

    def _fresh(self) -> Ring:
        """Return the content of the file; the last valid one while it is missing, half written or open to others."""
        try:
            if self._stamp() != self._seen:
                self._ring = self._read()
        except (OSError, Invalid) as error:
            log.warning("keyring.unreadable", reason=str(error))
        return self._ring

    def _read(self) -> Ring:
        """Read the file, and remember its stamp only if that worked."""
        try:
            stamp, ring = self._stamp(), load(self._path)
        except OSError as error:
            advice = "HORAE_KEYRING names the file, `horae keyring create` makes a new one"
            raise Invalid(f"the keyring {self._path} cannot be read ({error.strerror}): {advice}") from error
        self._seen = stamp
        return ring

    def _stamp(self) -> tuple[int, int]:
        """Return modification time and inode: they change with every `rotate`."""
        found = self._path.stat()
        return found.st_mtime_ns, found.st_ino


def is_open_to_others(mode: int, owner: int, reader: int) -> bool:
    """Whether a file shows its content to more users than it must.

    A file of root may be readable by its group, if the reader is not root: Kubernetes gives a pod its secrets so.
    """
    allowed = 0o740 if owner == ROOT_UID != reader else 0o700
    return bool(mode & 0o777 & ~allowed)


def load(path: Path) -> Ring:
    """Read a keyring file. Refused where other users may read it, or where it is no keyring."""
    found = path.stat()
    if is_open_to_others(found.st_mode, found.st_uid, os.geteuid()):
        raise Invalid(f"the keyring {path} is open to others than its owner; `chmod 600` closes it")
    try:
        said = json.loads(path.read_text())
        ring = Ring(said["current"], {name: base64.b64decode(key, validate=True) for name, key in said["keys"].items()})
        whole = ring.current in ring.keys and all(len(key) == KEY_BYTES for key in ring.keys.values())
    except (ValueError, KeyError, TypeError, AttributeError):
        whole = False
    if not whole:  # the message repeats no content: it could be a key
        raise Invalid(f"{path} is no keyring; `horae keyring create` makes one")
    return ring


def create(path: Path, name: str) -> None:
    """Write a new keyring with one key; refused where the file exists."""
    check_name(name)
    try:
        _write(path, Ring(name, {name: os.urandom(KEY_BYTES)}))
    except FileExistsError as error:
        raise Conflict(f"{path} exists already; `horae keyring rotate` adds a key to it") from error


def rotate(path: Path, name: str) -> Ring:
    """Add a key, which wraps from now on; the other keys still unwrap. The file is replaced as a whole."""
    check_name(name)
    ring = load(path)
    if name in ring.keys:
        raise Conflict(f"the keyring has a key {name!r} already")
    made = Ring(name, {**ring.keys, name: os.urandom(KEY_BYTES)})
    _replace(path, made)
    return made


def remove(path: Path, name: str) -> Ring:
    """Take a key out of the file. What it wraps can never be opened again: the caller knows that nothing needs it."""
    left = without(path, name)
    _replace(path, left)
    return left


def without(path: Path, name: str) -> Ring:
    """The content of the file without a key; refused for the key that wraps."""
    ring = load(path)
    if name not in ring.keys:
        raise NotFound(f"the keyring has no key {name!r}")
    if name == ring.current:
        raise Conflict(f"{name!r} is the key that wraps: `horae keyring rotate` makes another one first")
    return Ring(ring.current, {other: key for other, key in ring.keys.items() if other != name})


def check_name(name: str) -> None:
    """Refuse names with characters that separate a name from its text."""
    if not 0 < len(name) <= 60 or not name.isascii() or not name.replace("-", "").replace(".", "").isalnum():
        raise Invalid("a key's name is 1 to 60 letters, digits, dots and dashes")


def _replace(path: Path, ring: Ring) -> None:
    beside = path.with_name(path.name + ".new")
    beside.unlink(missing_ok=True)
    _write(beside, ring)
    beside.replace(path)


def _write(path: Path, ring: Ring) -> None:
    keys = {name: base64.b64encode(key).decode() for name, key in ring.keys.items()}
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FOR_ITS_OWNER)
    with os.fdopen(file, "w") as out:
        out.write(json.dumps({"current": ring.current, "keys": keys}, indent=2) + "\n")
        out.flush()
        os.fsync(out.fileno())
