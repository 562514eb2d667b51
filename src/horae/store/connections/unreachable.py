"""Says why a database cannot be reached, and what to do: one sentence for each reason that PostgreSQL gives."""

from typing import Final

import asyncpg
from asyncpg.exceptions import TargetServerAttributeNotMatched

SETTING: Final = "HORAE_DSN (or HORAE_CELLS)"


def explain(error: Exception) -> str:
    """The reason of a failed connection, and what to do."""
    match error:
        case asyncpg.InvalidPasswordError():
            return f"PostgreSQL refuses the login ({error}): correct the password in {SETTING}"
        case asyncpg.InvalidAuthorizationSpecificationError():
            return (
                f"PostgreSQL refuses the login ({error}): correct the role in {SETTING}, or create it with"
                " `horae init`; pg_hba.conf of the server says who may log in from where"
            )
        case asyncpg.InvalidCatalogNameError():
            return f"{error}: correct its name in {SETTING}, or create it with `horae init`"
        case TargetServerAttributeNotMatched():
            return f"no server in {SETTING} takes writes: it is a standby, or read-only; name the primary"
        case OSError() if error.filename is not None:
            return f"{error.filename} cannot be read: {error.strerror}"
        case _:
            said = f"{type(error).__name__}: {error}".rstrip(": ")
            return f"no database answers; is it running, and is {SETTING} right? ({said})"
