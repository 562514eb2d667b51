"""Reads YAML as plain values, safely, and writes plain values as YAML.

No tag creates an object. A duplicate key is refused. `no`, `on` and `1:30` are texts, as in YAML 1.2. A document whose
aliases would expand to too many values is refused before it is used.
"""

import re
from typing import Any, ClassVar, Final

import yaml

from horae.domain.errors import Invalid

MOST_NODES: Final = 1_000_000
MAX_FILE_BYTES: Final = 32 * 1024 * 1024
Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Out: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
MERGE: Final = "tag:yaml.org,2002:merge"


class YamlLoader(Base):  # type: ignore[misc]
    """A safe loader with only the types of YAML 1.2."""

    yaml_implicit_resolvers: ClassVar[dict[str, list[tuple[str, re.Pattern[str]]]]] = {}

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        """A mapping without duplicate keys."""
        seen: set[Any] = set()
        for key, _ in node.value:
            if key.tag != MERGE and key.value in seen:
                raise Invalid(f"line {key.start_mark.line + 1}: {key.value!r} stands there twice")
            seen.add(key.value if isinstance(key.value, str) else None)
        found: dict[Any, Any] = super().construct_mapping(node, deep=deep)
        return found


for tag, pattern, first in (
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("int", r"^[-+]?[0-9]+$", "-+0123456789"),
    ("float", r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$", "-+.0123456789"),
    ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("merge", r"^(?:<<)$", "<"),
):
    YamlLoader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(pattern), list(first))
YamlLoader.add_constructor("tag:yaml.org,2002:int", lambda loader, node: int(loader.construct_scalar(node)))
YamlLoader.add_constructor("tag:yaml.org,2002:float", lambda loader, node: float(loader.construct_scalar(node)))


def read(text: str, where: str) -> Any:
    """The single document of a text."""
    if len(text) > MAX_FILE_BYTES:
        raise Invalid(f"{where} is larger than {MAX_FILE_BYTES // 2**20} MiB")
    try:
        found = yaml.load(text, Loader=YamlLoader)  # a safe one  # noqa: S506  # nosec B506
    except yaml.YAMLError as error:
        raise Invalid(f"{where} is not YAML: {error}") from error
    except (Invalid, RecursionError) as error:
        raise Invalid(f"{where}: {error}") from error
    if _size(found, {}, set()) > MOST_NODES:
        raise Invalid(f"{where} means more than {MOST_NODES} values; do its aliases repeat each other?")
    return found


def to_yaml(value: Any) -> str:
    """Plain values as readable YAML."""
    text: str = yaml.dump(value, Dumper=Out, sort_keys=False, allow_unicode=True, width=110)
    return text


def _size(value: Any, known: dict[int, int], inside: set[int]) -> int:
    """The number of values without aliases; visits each value once."""
    if not isinstance(value, dict | list):
        return 1
    if id(value) in inside:
        return MOST_NODES + 1  # it contains itself
    if id(value) not in known:
        inside.add(id(value))
        parts = value.values() if isinstance(value, dict) else value
        known[id(value)] = 1 + sum(_size(part, known, inside) for part in parts)
        inside.discard(id(value))
    return known[id(value)]
