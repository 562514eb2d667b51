"""The contexts of the command line: the address of an API and a key, under a name.

They are in one file in the folder of the user's settings. It holds keys, so nobody else may read it: it is written
with mode 0600, and refused if others can read it.
"""

import os
import re
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from horae.domain.errors import Invalid, NotFound

NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}")
OWNER_ONLY: Final = 0o600
FOLDER_MODE: Final = 0o700
ENVIRONMENT: Final = "the environment"
"""Where an API comes from that HORAE_URL and HORAE_KEY name."""


class ApiContext(msgspec.Struct, frozen=True):
    """An API and the key for it. `name` is the name of the context, or where else it comes from."""

    name: str
    url: str
    key: str


class ContextList(msgspec.Struct, frozen=True):
    """All contexts, and the name of the one that commands use."""

    current: str | None = None
    contexts: dict[str, ApiContext] = {}

    def find(self, name: str) -> ApiContext:
        """The context of this name."""
        if name not in self.contexts:
            known = ", ".join(sorted(self.contexts)) or "there is none yet"
            raise NotFound(f"there is no context {name!r}; known: {known}")
        return self.contexts[name]

    def added(self, one: ApiContext) -> "ContextList":
        """All contexts with this one, which is used from now on."""
        return ContextList(one.name, self.contexts | {one.name: one})

    def used(self, name: str) -> "ContextList":
        """The same contexts; commands use this one from now on."""
        return ContextList(self.find(name).name, self.contexts)

    def removed(self, name: str) -> "ContextList":
        """All other contexts."""
        gone = self.find(name).name
        left = {key: one for key, one in self.contexts.items() if key != gone}
        return ContextList(None if self.current == gone else self.current, left)


def chosen(environment: Mapping[str, str] = os.environ) -> ApiContext:
    """The API that commands speak to: HORAE_URL with HORAE_KEY, else HORAE_CONTEXT, else the context in use."""
    url, key = environment.get("HORAE_URL"), _key_of(environment)
    if url and key:
        return made(ENVIRONMENT, url, key)
    if key:
        raise Invalid("HORAE_KEY is set and HORAE_URL is not: set the address of the API, too")
    stored = load(environment)
    name = environment.get("HORAE_CONTEXT") or (None if url else stored.current)
    if name is None:
        if url:
            raise Invalid("HORAE_URL is set and HORAE_KEY is not: set a key, or unset it and use `horae login`")
        raise Invalid(
            "no API is chosen: run `horae login URL`, set HORAE_URL and HORAE_KEY, or run `horae dev`, which has both"
        )
    return stored.find(name)


def made(name: str, url: str, key: str) -> ApiContext:
    """A context from what a person gave."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise Invalid(f"{url!r} is no address of an API; write https://horae.example.com")
    if parts.username or parts.password:
        raise Invalid("the address contains a password: give the key alone, it is prompted for")
    if not key.isascii() or not key.isprintable() or not key.strip():
        raise Invalid("this is no key: it is empty, or has characters that no header can carry")
    return ApiContext(name, url.rstrip("/"), key.strip())


def named(name: str, url: str, key: str) -> ApiContext:
    """A context that can be stored: its name is a plain word."""
    if not NAME.fullmatch(name):
        raise Invalid(f"{name!r} is no name of a context: letters, digits, _ and -, at most 63")
    return made(name, url, key)


def file_of(environment: Mapping[str, str] = os.environ) -> Path:
    """The file of contexts: HORAE_CONTEXTS, else contexts.toml in the user's folder of settings."""
    if given := environment.get("HORAE_CONTEXTS"):
        return Path(given)
    home = environment.get("XDG_CONFIG_HOME")
    return (Path(home) if home else Path.home() / ".config") / "horae" / "contexts.toml"


def load(environment: Mapping[str, str] = os.environ) -> ContextList:
    """All stored contexts. A file that others can read is refused, because their keys may be known."""
    file = file_of(environment)
    try:
        with file.open("rb") as opened:
            mode = stat.S_IMODE(os.fstat(opened.fileno()).st_mode)
            if mode & ~OWNER_ONLY:
                raise Invalid(f"{file} holds keys and others may read it (mode {mode:04o}): run `chmod 600 {file}`")
            return _contexts(tomllib.load(opened))
    except FileNotFoundError:
        return ContextList()
    except (tomllib.TOMLDecodeError, msgspec.ValidationError, UnicodeDecodeError) as error:
        raise Invalid(f"{file} cannot be read: {error}") from error


def save(contexts: ContextList, environment: Mapping[str, str] = os.environ) -> Path:
    """Write the file anew. Another process sees the old file or the new one, never a part."""
    file = file_of(environment)
    file.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    beside.unlink(missing_ok=True)
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
    with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
        opened.write(_toml(contexts))
    beside.replace(file)
    return file


def _key_of(environment: Mapping[str, str]) -> str | None:
    """HORAE_KEY, or the text of the file that HORAE_KEY_FILE names."""
    if key := environment.get("HORAE_KEY"):
        return key
    file = environment.get("HORAE_KEY_FILE")
    if not file:
        return None
    try:
        return Path(file).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(f"HORAE_KEY_FILE cannot be read: {error}") from error


def _contexts(facts: Mapping[str, Any]) -> ContextList:
    stored = msgspec.convert(facts.get("contexts", {}), dict[str, dict[str, str]])
    found = {name: msgspec.convert({"name": name, **one}, ApiContext) for name, one in stored.items()}
    return ContextList(msgspec.convert(facts.get("current"), str | None), found)


def _toml(contexts: ContextList) -> str:
    """The file. A text in JSON is a text in TOML."""
    lines = ["# Written by `horae context` and `horae login`. It holds keys: keep it readable for yourself only.\n"]
    if contexts.current is not None:
        lines.append(f"current = {_text(contexts.current)}\n")
    for name, one in sorted(contexts.contexts.items()):
        lines.append(f"\n[contexts.{name}]\nurl = {_text(one.url)}\nkey = {_text(one.key)}\n")
    return "".join(lines)


def _text(value: str) -> str:
    return msgspec.json.encode(value).decode()
