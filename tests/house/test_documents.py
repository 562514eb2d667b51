"""The documents speak of what is there."""

import re
from pathlib import Path

import pytest

from horae.domain.events.events import Event
from horae.domain.instances.lifecycle import State
from horae.domain.instances.outcomes import ErrorCode, SkipReason

ROOT = Path(__file__).parents[2]
DOCS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def test_the_glossary_has_every_event_state_and_reason():
    glossary = (ROOT / "docs" / "glossary.md").read_text()
    for word in (*Event, *State, *SkipReason, *ErrorCode):
        assert f"`{word}`" in glossary, word


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.name)
def test_every_path_a_page_names_exists(page):
    for path in re.findall(r"`((?:src|docs|tests|tools|benchmarks|examples|\.ci)/[\w./-]+)`", page.read_text()):
        assert (ROOT / path).exists(), path
    for link in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
        assert (page.parent / link).exists(), link


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.name)
def test_every_make_target_a_page_names_exists(page):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for target in re.findall(r"`make ([a-z-]+)", page.read_text()):
        assert target in targets


def test_the_walks_pass_every_floor():
    walks = (ROOT / "docs" / "walks.md").read_text()
    assert walks.count("## ") == 3
    for floor in ("boot", "service", "engine", "repositories", "store", "domain", "runtime", "delivery"):
        assert f"src/horae/{floor}/" in walks
