"""PostgreSQL's programs: where they are, and which user runs them."""

import os
import pwd
import shutil
from pathlib import Path
from typing import Any, Final

from horae.domain.errors import Invalid

DEBIAN: Final = Path("/usr/lib/postgresql")


def programs(version: str | None = None) -> Path:
    """The folder with `initdb` and `postgres`: of a version if its data exists, or else the newest."""
    found = sorted((path.parent for path in DEBIAN.glob("*/bin/initdb")), key=_number, reverse=True)
    on_path = shutil.which("initdb")
    if on_path:
        found.append(Path(on_path).resolve().parent)
    if not found:
        raise Invalid(f"there is no PostgreSQL in {DEBIAN} or on the PATH; install it, or set HORAE_DSN")
    return next((folder for folder in found if folder.parent.name == version), found[0])


def someone_else(folder: Path) -> dict[str, Any]:
    """Arguments to start a program as a user that PostgreSQL accepts: it refuses root, so root becomes `postgres`."""
    if os.getuid() != 0:
        return {}
    try:
        user = pwd.getpwnam("postgres")
    except KeyError:
        raise Invalid("PostgreSQL refuses to run as root, and there is no user `postgres` to run it as") from None
    os.chown(folder, user.pw_uid, user.pw_gid)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": [], "cwd": folder}


def _number(folder: Path) -> tuple[int, ...]:
    return tuple(int(part) for part in folder.parent.name.split(".") if part.isdigit())
