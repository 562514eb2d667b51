"""What of a job's definition may be nobody else's business: its payload, and what its target is sent along with it."""

from typing import Any, Final

from msgspec.structs import replace

from horae.domain.jobs import Definition
from horae.domain.sealed import Sealed
from horae.domain.targets import HttpTarget

OF_TARGET: Final = ("headers", "query", "body")


def parts(definition: Definition) -> dict[str, Any]:
    """Those parts that it has; nothing for most."""
    found = {} if definition.payload is None else {"payload": definition.payload}
    target = definition.target
    if isinstance(target, HttpTarget) and (target.headers or target.query or target.body is not None):
        found |= {name: value for name in OF_TARGET if (value := getattr(target, name)) not in (None, {})}
    return found


def any_in(definition: Definition) -> bool:
    """Whether it has any."""
    target = definition.target
    if definition.payload is not None or not isinstance(target, HttpTarget):
        return definition.payload is not None
    return bool(target.headers or target.query) or target.body is not None


def stripped(definition: Definition, sealed: Sealed) -> Definition:
    """The definition without them, and with them sealed."""
    target = definition.target
    if isinstance(target, HttpTarget):
        target = replace(target, headers={}, query={}, body=None)
    return replace(definition, payload=None, target=target, sealed=sealed)


def whole(definition: Definition, told: dict[str, Any]) -> Definition:
    """The definition with them again."""
    target = definition.target
    if isinstance(target, HttpTarget):
        target = replace(target, **{name: told[name] for name in OF_TARGET if name in told})
    return replace(definition, payload=told.get("payload"), target=target, sealed=None)


def whole_document(document: dict[str, Any], told: dict[str, Any]) -> dict[str, Any]:
    """The same for a definition as it is stored."""
    kept = {name: value for name, value in document.items() if name != "sealed"}
    if "payload" in told:
        kept["payload"] = told["payload"]
    inner = {name: told[name] for name in OF_TARGET if name in told}
    return kept | {"target": kept["target"] | inner} if inner else kept
