"""Every wall of the threat model, and each of the five classes of incidents, names tests that are there."""

import re
from pathlib import Path

from tests.house.test_hardening import functions_of

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "threat-model.md").read_text()
FIVE, WALLS = "## The five ways schedulers have fallen", "## The defences"


def rows(heading: str) -> list[str]:
    section = PAGE.partition(heading)[2].partition("\n## ")[0]
    return [line for line in section.splitlines() if line.startswith("| ")][1:]


def test_there_are_five_classes_and_a_dozen_walls_and_what_is_not_defended():
    assert len(rows(FIVE)) == 5
    assert len(rows(WALLS)) >= 12
    assert PAGE.partition("## What is not defended")[2].count("\n- **") >= 8


def test_each_names_a_test_and_every_test_it_names_exists():
    for line in rows(FIVE) + rows(WALLS):
        named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", line)
        assert named, line
        for path, name in named:
            assert name in functions_of(ROOT / path), f"{path}::{name}"
