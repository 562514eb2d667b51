"""The page of roles says what the table says."""

from pathlib import Path

from horae.security.table import markdown

PAGE = Path(__file__).parents[2] / "docs" / "api" / "roles.md"


def test_the_page_of_roles_is_the_table():
    assert PAGE.read_text() == markdown(), "write it anew: horae key roles > docs/api/roles.md"
