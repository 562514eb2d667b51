"""The page of requirements is true: its tests exist, and what has no test is marked open."""

import re
from pathlib import Path

from tests.house.test_hardening import functions_of

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "requirements.md").read_text()
ROWS = re.findall(r"^\| (\w+) \| (.*) \|$", PAGE, re.MULTILINE)
TESTS = re.findall(r"`(tests/[^`]+::[^`]+)`", PAGE)
EXAMPLES = range(1, 13)
OPEN_EXAMPLES: set[int] = set()
LEADS_ELSEWHERE = "see C"


def test_there_is_a_row_for_each_requirement():
    assert len(ROWS) == 160 + len(EXAMPLES)
    assert len({name for name, _ in ROWS}) == len(ROWS)


def test_every_test_the_page_names_exists():
    for test in TESTS:
        path, _, name = test.partition("::")
        assert name in functions_of(ROOT / path), test


def test_a_row_without_a_test_is_open_or_leads_to_another():
    for name, text in ROWS:
        assert "`tests/" in text or "**open**" in text.lower() or LEADS_ELSEWHERE in text, name


def test_the_twelve_examples_are_tests_by_name_or_open():
    shown = {int(number) for number in re.findall(r"::test_seed_002_example_(\d+)_", PAGE)}
    assert shown == set(EXAMPLES) - OPEN_EXAMPLES
    for name, text in ROWS:
        if name.isdecimal():
            assert ("**open**" in text) == (int(name) in OPEN_EXAMPLES), name
