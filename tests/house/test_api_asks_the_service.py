"""An API route calls a verb of the service with its context, and never reaches for the cells (`ctx.store`) itself."""

import ast
from pathlib import Path

API = Path(__file__).parents[2] / "src" / "horae" / "api"


def test_no_route_takes_the_store_out_of_a_context():
    found = [
        f"{file.relative_to(API)}:{node.lineno}"
        for file in sorted(API.rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Attribute) and node.attr == "store"
    ]
    assert found == [], "pass `ctx` to a verb of the service; `ctx.now(shard)` tells the time"
