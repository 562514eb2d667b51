"""The files of a deployment, readable only by their owner: settings, keyring, first key."""

import json
import os
import shutil
import tomllib
from pathlib import Path
from secrets import token_hex
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from horae.boot.setup.addresses import DatabaseAddress
from horae.domain.errors import Invalid
from horae.store.databases import roles

SETTINGS: Final = "horae.toml"
KEYRING: Final = "keyring.json"
ADMIN_KEY: Final = "admin.key"
FOR_ITS_OWNER: Final = 0o600
FOLDER_FOR_ITS_OWNER: Final = 0o700
PASSWORD_BYTES: Final = 24
SECRET_BYTES: Final = 32
SETTING_OF_ROLE: Final = {roles.ENGINE: "dsn", roles.OWNER: "upkeep_dsn", roles.API: "api_dsn"}
"""The setting that holds the DSN of a role. The other roles have no password: no process logs in with them."""


class SettingsFile(NamedTuple):
    """What the settings file of a deployment says."""

    environment: str
    tenant: str
    dsn: str
    upkeep_dsn: str
    api_dsn: str
    keyring: str
    api_secret: str

    def text(self) -> str:
        """The file as TOML."""
        lines = [f"{name} = {json.dumps(value)}" for name, value in self._asdict().items()]
        head = "# The settings of this deployment, written by `horae init`. It holds passwords: keep it to its owner."
        return "\n".join([head, *lines, ""])

    def password_of(self, role: str) -> str:
        """The password of a role that has a DSN here."""
        return urlsplit(getattr(self, SETTING_OF_ROLE[role])).password or ""


def new_settings(folder: Path, address: DatabaseAddress, environment: str, tenant: str) -> SettingsFile:
    """The settings of a new deployment, with new passwords and a new secret."""
    dsns = {setting: address.dsn(role, token_hex(PASSWORD_BYTES)) for role, setting in SETTING_OF_ROLE.items()}
    return SettingsFile(
        environment=environment,
        tenant=tenant,
        keyring=str(folder / KEYRING),
        api_secret=token_hex(SECRET_BYTES),
        **dsns,
    )


def read_settings(path: Path) -> SettingsFile | None:
    """Read the settings file of a deployment; None where there is none."""
    try:
        found = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise Invalid(f"{path} is no TOML: {error}") from error
    if missing := [name for name in SettingsFile._fields if not isinstance(found.get(name), str)]:
        advice = "add them, or move the file away and run `horae init` again"
        raise Invalid(f"{path} does not say {', '.join(missing)}: {advice}")
    return SettingsFile(**{name: found[name] for name in SettingsFile._fields})


def make_folder(folder: Path, owner: str | None) -> None:
    """Create the folder of the files, open to its owner only."""
    try:
        folder.mkdir(parents=True, mode=FOLDER_FOR_ITS_OWNER)
    except FileExistsError:
        return
    except OSError as error:
        raise Invalid(f"{folder} cannot be made: {error.strerror}; --folder names another one") from error
    give_to(folder, owner)


def write_private(path: Path, text: str, owner: str | None) -> None:
    """Write a new file that only its owner may read; it appears as a whole or not at all."""
    beside = path.with_name(f".{path.name}.new")
    beside.unlink(missing_ok=True)
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FOR_ITS_OWNER), "w") as file:
            file.write(text)
        give_to(beside, owner)
        beside.rename(path)
    except OSError as error:
        raise Invalid(f"{path} cannot be written: {error.strerror}; --folder names another folder") from error


def give_to(path: Path, owner: str | None) -> None:
    """Give a file to a user of this machine."""
    if owner is None:
        return
    try:
        shutil.chown(path, owner)
    except LookupError as error:
        raise Invalid(f"this machine has no user {owner!r} (--owner)") from error
    except OSError as error:
        raise Invalid(f"{path} cannot be given to {owner} (--owner): {error.strerror}; run it as root") from error
