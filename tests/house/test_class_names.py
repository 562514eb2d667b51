"""A class name is a noun and stands for one thing: no name twice, no bare participle."""

from pathlib import Path

import pytest
from tools.words import Source

KNOWN_PARTICIPLES = ["Contended", "Finding", "Keyring", "Unauthenticated"]
"""Two errors named by the state that they report, and two nouns that end like a participle."""


@pytest.fixture(scope="module")
def source():
    """Read when a test asks for it, and not by every process that only collects this file."""
    return Source(Path(__file__).parents[2])


def test_no_class_name_stands_twice(source):
    assert not source.homonyms()


def test_no_type_is_named_by_a_bare_participle(source):
    assert source.participles() == KNOWN_PARTICIPLES
