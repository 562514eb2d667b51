"""The keyring of this test process, for itself and for every process it starts."""

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from horae.domain.encryption.encrypted_values import payload_of, read
from horae.repositories.envelopes import Envelopes
from horae.security import keyrings
from horae.security.keks import Keks
from horae.security.keyrings import Keyring
from horae.store.store import Store


@cache
def keyring() -> Path:
    """A file with one key, gone at the end."""
    folder = Path(tempfile.mkdtemp(prefix="horae-keys-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    keyrings.create(folder / "keyring.json", "test")
    return folder / "keyring.json"


def sealed(store: Store) -> Store:
    """The same store; it seals from now on."""
    store.cipher = Envelopes(store, Keks([Keyring(keyring())]))
    return store


async def clear(store: Store, row: Any) -> dict[str, Any]:
    """A live row as the database has it, with its payload opened."""
    spot = payload_of(row["job_id"], row["idem_key"])
    return {**row, "payload": await store.cipher.decrypt(row["tenant_id"], spot, read(row["payload"]))}


def copied(path: Path, store: Store) -> Path:
    """A copy of the keyring, to be rotated; the store seals with it from now on."""
    path.touch(mode=0o600)
    path.write_bytes(keyring().read_bytes())
    store.cipher = Envelopes(store, Keks([Keyring(path)]))
    return path
