"""The console's TypeScript uses no retired words: docs/renames.md has the words that replaced them.

The tests read identifiers, comments and file names of `console/src`, and the class names of its style sheets. They do
not read texts in quotes. Names of the generated client, and fields of the API's answers, are as the API has them.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from tests.house.test_retired_words import AS_NAMES, ROOT, WORDS, in_prose

CONSOLE = ROOT / "console" / "src"
GENERATED = CONSOLE / "api" / "generated"

RETIRED = {
    "tell tells said": "notify, show, message, text",
    "asked asking": "query, request, open",
    "sought": "filters",
    "act acts": "action, actions",
    "lately": "recent",
    "coming": "forecast, next",
    "strand strands": "series",
    "heat": "heatmap",
    "worst": "busiest, maximum",
    "few": "a threshold by its subject",
    "dress": "theme",
    "trouble": "error",
    "pausing": "pause button",
    "standing": "status",
    "picture pictures stroke strokes": "chart, timeline, entry",
    "finds": "results",
}
"""Words that are retired in the console, beside those that are retired everywhere."""
NAMES = WORDS | AS_NAMES | {word: better for words, better in RETIRED.items() for word in words.split()}
FIELDS = {"born": "of a backfill", "worst": "of a forecast"}
"""Fields of the API's answers: they stay as `one.born`, and not as variables."""

TOKEN = re.compile(
    r"(?s)(?P<comment>//[^\n]*|/\*.*?\*/)"
    r"|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'"
    r"|(?P<name>\.?[A-Za-z_$][\w$]*)"
)
IMPORTED = re.compile(r'import (?:type )?\{([^}]*)\} from "[^"]*/api/generated/[^"]*"')
CLASS = re.compile(r"\.([a-z][\w-]*)")


def sources(*endings: str) -> list[Path]:
    found = (path for path in sorted(CONSOLE.rglob("*")) if path.suffix in endings)
    return [path for path in found if GENERATED not in path.parents]


def words_of(name: str) -> list[str]:
    """The retired words among the parts of an identifier, a class name or a file name."""
    parts = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower().replace("_", "-").replace(".", "-").split("-")
    pairs = zip(["", *parts], parts, strict=False)
    return [part for before, part in pairs if part in NAMES and (before, part) != ("dead", "letters")]


def in_typescript(source: str) -> Iterator[tuple[int, str, str]]:
    """Line, word and surroundings of each retired word in the identifiers and comments of a module."""
    generated = {name for names in IMPORTED.findall(source) for name in re.findall(r"\w+", names)}
    for token in TOKEN.finditer(source):
        line = source.count("\n", 0, token.start()) + 1
        if token["comment"]:
            yield from ((line + after, word, text) for after, word, text in in_prose(token["comment"]))
        elif token["name"] and token["name"] not in generated and token["name"] not in {f".{name}" for name in FIELDS}:
            yield from ((line, word, token["name"]) for word in words_of(token["name"]))


def test_no_module_of_the_console_uses_a_retired_word():
    uses = [
        f"{path.relative_to(ROOT)}:{line} {word} in {text} (rather: {NAMES.get(word, 'dead letter')})"
        for path in sources(".ts", ".tsx")
        for line, word, text in in_typescript(path.read_text())
    ]
    assert not uses, f"{len(uses)} uses:\n" + "\n".join(uses)


def test_no_file_of_the_console_is_named_by_a_retired_word():
    paths = [path.relative_to(CONSOLE) for path in sources(".ts", ".tsx", ".css")]
    uses = [f"{path}: {word}" for path in paths for part in path.parts for word in words_of(part)]
    assert paths
    assert not uses, "\n" + "\n".join(uses)


def test_no_class_of_the_console_is_named_by_a_retired_word():
    uses = [
        f"{path.relative_to(ROOT)}: .{name} (rather: {NAMES[word]})"
        for path in sources(".css")
        for name in CLASS.findall(path.read_text())
        for word in words_of(name)
    ]
    assert not uses, "\n" + "\n".join(uses)


def test_typescript_is_read_without_its_texts_and_generated_names():
    source = """
import { getAuditChain } from "../../api/generated/client";
// The doors are open.
const toldNow = one.born + getAuditChain("seal") + deadLetters;
const born = `${asked}`;
"""
    assert [(line, word) for line, word, _ in in_typescript(source)] == [
        (3, "doors"),
        (4, "told"),
        (5, "born"),
        (5, "asked"),
    ]
