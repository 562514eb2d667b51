"""The names that users of the OpenAPI document see. `python -m tests.api.names` writes the lists."""

from pathlib import Path
from typing import Any
from unittest.mock import Mock

from horae.api.app import make
from horae.api.gate import Gate

HOME = Path(__file__).parent


async def no_cells() -> list[Any]:
    return []


def lists() -> dict[Path, list[str]]:
    """Every list of names, by its file. No server and no database is needed."""
    document = make(Mock(spec=Gate), no_cells).openapi()
    operations = [
        f"{facts['operationId']} {method.upper()} {path}"
        for path, methods in document["paths"].items()
        for method, facts in methods.items()
    ]
    return {
        HOME / "components.txt": sorted(document["components"]["schemas"]),
        HOME / "operations.txt": sorted(operations),
    }


if __name__ == "__main__":
    for file, names in lists().items():
        file.write_text("".join(f"{name}\n" for name in names))
