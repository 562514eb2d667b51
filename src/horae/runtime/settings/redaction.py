"""Values of settings as they may be shown: without secrets."""

from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from pydantic import BaseModel

from horae.runtime.settings.facts import Secrecy, fact_of

HIDDEN: Final = "***"
PLAIN_PARAMETERS: Final = frozenset(
    {"application_name", "dbname", "host", "port", "sslcert", "sslkey", "sslmode", "sslrootcert", "user"}
    | {"target_session_attrs", "connect_timeout", "passfile", "service"}
)
"""Parameters of a DSN that hold no secret. All others are hidden, also those that a later driver may know."""


def redacted(model: BaseModel) -> dict[str, Any]:
    """The values of a table, with secrets hidden."""
    return {
        name: redacted_value(getattr(model, name), fact_of(field, Secrecy))
        for name, field in type(model).model_fields.items()
    }


def redacted_value(value: Any, secrecy: Secrecy | None) -> Any:
    """A value as it may be shown."""
    match value:
        case None | "":
            return value
        case BaseModel():
            return redacted(value)
        case list() | tuple():
            return [redacted_value(one, secrecy) for one in value]
        case dict():
            return {name: redacted_value(one, secrecy) for name, one in value.items()}
    match secrecy:
        case Secrecy.HIDDEN:
            return HIDDEN
        case Secrecy.DSN:
            return redacted_dsn(str(value))
        case Secrecy.URL:
            return redacted_url(str(value))
    return value if isinstance(value, bool | int | float | str) else str(value)


def has_password(url: str) -> bool:
    """Whether a DSN or URL may hold a password or token."""
    try:
        parts = urlsplit(url)
        named = {name for name, _ in parse_qsl(parts.query)}
    except ValueError:
        return True
    before_host, at, _ = parts.netloc.rpartition("@")
    return (bool(at) and ":" in before_host) or "@" in parts.path + parts.fragment or not named <= PLAIN_PARAMETERS


def redacted_dsn(dsn: str) -> str:
    """A DSN without its password. A DSN that cannot be taken apart for sure is hidden."""
    try:
        parts = urlsplit(dsn)
        query = parse_qsl(parts.query, keep_blank_values=True)
    except ValueError:
        return HIDDEN
    if not parts.scheme or "@" in parts.path or "@" in parts.fragment:  # a password with a raw slash or hash
        return HIDDEN
    login, at, host = parts.netloc.rpartition("@")
    user, colon, _ = login.partition(":")
    safe = "&".join(f"{name}={one if name in PLAIN_PARAMETERS else HIDDEN}" for name, one in query)
    password = f":{HIDDEN}" if colon else ""
    return f"{parts.scheme}://{user}{password}{at}{host}{parts.path}{'?' + safe if safe else ''}"


def redacted_url(url: str) -> str:
    """A URL without all but its scheme and hosts: a token may be anywhere else. Lists of hosts have no scheme."""
    return ",".join(_redacted_address(one) for one in url.split(","))


def _redacted_address(url: str) -> str:
    scheme, found, rest = url.partition("://")
    rest = rest if found else url
    if "@" in rest:
        return f"{scheme}://{HIDDEN}@{_host(rest.rpartition('@')[2])}" if found else HIDDEN
    host, slash, path = rest.partition("/")
    tail = f"/{HIDDEN}" if slash and path else slash
    return f"{scheme}{found}{_host(host)}{tail}" if found else f"{_host(host)}{tail}"


def _host(text: str) -> str:
    return text.partition("/")[0].partition("?")[0]
