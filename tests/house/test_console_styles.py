"""A page that is opened first has its style sheets: what it uses must not come by chance with a page seen before.

Each page is loaded by itself. So the modules that it imports have to import the sheets of their class names.
"""

import os.path
import re
from collections.abc import Iterator

import pytest

from tests.house.test_console_names import CLASS, CONSOLE, sources

COMMENT = re.compile(r"(?s)/\*.*?\*/")
BODY = re.compile(r"\{[^{}]*\}")
IMPORT = re.compile(r'(?m)^(?:(?:import|export) (?!type )[^;]*?from |import )"(\.[^"]+)"')
PAGE = re.compile(r'import\("(\.[^"]+)"\)')
USED = re.compile(r'className=(?:"([^"]*)"|\{((?:[^{}]|\{[^{}]*\})*)\})')
EXPRESSION = re.compile(r"\$\{[^}]*\}")
TEXT = re.compile(r'["`]([^"`]*)["`]')
WORD = re.compile(r"[a-zA-Z][\w-]*")
FILES = {
    str(path.relative_to(CONSOLE)): path.read_text()
    for path in sources(".ts", ".tsx", ".css")
    if ".test." not in path.name
}
"""Modules and sheets by their place in the console."""
START = "main.tsx"


def named_in(module: str, pattern: re.Pattern[str]) -> set[str]:
    """The modules and sheets that a module names; generated ones are none of ours."""
    places = (os.path.normpath(os.path.join(os.path.dirname(module), name)) for name in pattern.findall(FILES[module]))
    return {place + ending for place in places for ending in ("", ".ts", ".tsx") if place + ending in FILES}


IMPORTED = {file: named_in(file, IMPORT) for file in FILES}
PAGES = sorted(set().union(*(named_in(file, PAGE) for file in FILES)))
"""The modules that are loaded by themselves."""


def loaded_with(file: str) -> set[str]:
    """A module and all that it imports, and what these import."""
    found, next_ = set[str](), [file]
    while next_:
        if (one := next_.pop()) not in found:
            found.add(one)
            next_ += IMPORTED[one]
    return found


def classes_of(files: set[str]) -> set[str]:
    """The class names that sheets define."""
    sheets = (BODY.sub("{}", COMMENT.sub("", FILES[file])) for file in files if file.endswith(".css"))
    return {name for sheet in sheets for name in CLASS.findall(sheet)}


def used_in(module: str) -> Iterator[str]:
    """The class names that a module gives its elements."""
    for plain, computed in USED.findall(FILES[module]):
        for text in (plain, *TEXT.findall(EXPRESSION.sub(" ", computed))):
            yield from WORD.findall(text)


EVERY_CLASS = classes_of(set(FILES))
FROM_START = loaded_with(START)


def test_there_are_pages_and_they_use_classes():
    assert len(PAGES) > 30
    assert "attempts" in set(used_in("pages/instances/Attempts.tsx")) & EVERY_CLASS


def test_every_class_name_that_an_element_has_is_in_a_style_sheet():
    """A name that ends with a hyphen is the beginning of some."""
    used = {name for file in FILES if file.endswith(".tsx") for name in used_in(file)}
    begun = {name for name in used if name.endswith("-") and any(one.startswith(name) for one in EVERY_CLASS)}
    assert used - begun <= EVERY_CLASS


@pytest.mark.parametrize("page", PAGES)
def test_a_page_brings_the_style_sheets_of_all_class_names_that_it_uses(page):
    own = loaded_with(page)
    there = classes_of(own | FROM_START)
    used = {(file, name) for file in own if file.endswith(".tsx") for name in used_in(file) if not name.endswith("-")}
    assert not {(file, name) for file, name in used if name not in there}, "import the sheet where it is used"
