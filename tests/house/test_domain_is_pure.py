import ast
from pathlib import Path

DOMAIN = Path(__file__).parents[2] / "src" / "horae" / "domain"


def test_no_rule_reads_a_clock_or_throws_dice():
    for file in DOMAIN.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Attribute):
                assert node.attr not in {"now", "utcnow", "today", "uuid4", "urandom"}, f"{file.name}:{node.lineno}"


def test_rooms_named_for_nothing_do_not_exist():
    for path in DOMAIN.parent.rglob("*"):
        assert path.stem not in {"utils", "util", "common", "misc", "helpers", "helper"}
