"""`domain`, `store` and `service` have a folder for each noun; a module that all rooms use stands outside."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "horae"
SHARED = {
    "domain": {"errors", "foreign", "ids", "names", "placement", "steps", "times"},
    "store": {
        *("arrays", "idempotency", "migrations", "reading", "statements"),
        *("cells", "metered", "protocol", "row_level_security", "store", "transactions", "tx", "walls"),
        *("definitions", "envelopes", "secret_book", "settle"),
    },
    "service": {"context", "idempotency", "idempotent_store", "memory", "refusals"},
}


@pytest.mark.parametrize("floor", SHARED)
def test_a_module_stands_in_the_room_of_its_noun(floor):
    loose = {path.stem for path in (SOURCE / floor).glob("*.py")} - {"__init__"}
    assert loose <= SHARED[floor]


def test_every_package_says_what_it_holds():
    for path in SOURCE.rglob("__init__.py"):
        assert ast.get_docstring(ast.parse(path.read_text())), path.relative_to(SOURCE)


def test_no_module_has_the_name_of_a_package_beside_it():
    for path in SOURCE.rglob("*.py"):
        assert not (path.with_suffix("") / "__init__.py").exists(), path.relative_to(SOURCE)
