"""The private parts of a job's definition: its payload, and the headers, query and body of its target."""

from typing import Any, Final

from msgspec.structs import replace

from horae.domain.encryption.encrypted_values import EncryptedValue
from horae.domain.jobs.jobs import Definition
from horae.domain.targets.targets import HttpTarget

OF_TARGET: Final = ("headers", "query", "body")
"""The private fields of an HTTP target."""


def private_parts(definition: Definition) -> dict[str, Any]:
    """Return the private parts that a definition has; an empty dict for most definitions."""
    found = {} if definition.payload is None else {"payload": definition.payload}
    target = definition.target
    if isinstance(target, HttpTarget) and (target.headers or target.query or target.body is not None):
        found |= {name: value for name in OF_TARGET if (value := getattr(target, name)) not in (None, {})}
    return found


def has_private_parts(definition: Definition) -> bool:
    """Whether a definition has private parts."""
    target = definition.target
    if definition.payload is not None or not isinstance(target, HttpTarget):
        return definition.payload is not None
    return bool(target.headers or target.query) or target.body is not None


def without_private_parts(definition: Definition, encrypted: EncryptedValue) -> Definition:
    """Return the definition without its private parts, and with their encrypted form."""
    target = definition.target
    if isinstance(target, HttpTarget):
        target = replace(target, headers={}, query={}, body=None)
    return replace(definition, payload=None, target=target, sealed=encrypted)


def with_private_parts(definition: Definition, private: dict[str, Any]) -> Definition:
    """Return the definition with its decrypted private parts."""
    target = definition.target
    if isinstance(target, HttpTarget):
        target = replace(target, **{name: private[name] for name in OF_TARGET if name in private})
    return replace(definition, payload=private.get("payload"), target=target, sealed=None)


def document_with_private_parts(document: dict[str, Any], private: dict[str, Any]) -> dict[str, Any]:
    """The same for a definition in its stored form."""
    kept = {name: value for name, value in document.items() if name != "sealed"}
    if "payload" in private:
        kept["payload"] = private["payload"]
    inner = {name: private[name] for name in OF_TARGET if name in private}
    return kept | {"target": kept["target"] | inner} if inner else kept
