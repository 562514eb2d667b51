"""A class name is a noun and stands for one thing: no name twice, no bare participle."""

from pathlib import Path

from tools.words import Source

SOURCE = Source(Path(__file__).parents[2])
KNOWN_PARTICIPLES = ["Contended", "Finding", "Keyring", "Unauthenticated"]
"""Two errors named by the state that they report, and two nouns that end like a participle."""


def test_no_class_name_stands_twice():
    assert not SOURCE.homonyms()


def test_no_type_is_named_by_a_bare_participle():
    assert SOURCE.participles() == KNOWN_PARTICIPLES
