"""Words that were retired do not come back: docs/renames.md has the words that replaced them.

The tests read identifiers, file names, docstrings and comments of the product and of the SDK, the parts and comments of
statements, and the prose of pages.
They do not read migrations, CHANGELOG.md, decisions and proofs, which are history, nor code in prose (`like this`).
"""

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = (ROOT / "src" / "horae", ROOT / "sdk" / "python" / "src")
MIGRATIONS = ROOT / "src" / "horae" / "store" / "migrations"
BUILT = ROOT / "src" / "horae" / "console"
HISTORY = ("docs/renames.md", "docs/decisions/", "docs/proof/")
ROOT_PAGES = ("README.md", "README.zh-CN.md", "CONTRIBUTING.md", "SECURITY.md")

RETIRED = {
    "told": "sent, delivered, returned, logged",
    "door doors doorframe": "API server, route",
    "walls walled": "row-level security, defence",
    "letters": "dead letters",
    "birth births born": "new instance, insert, creation",
    "mature matures matured": "due",
    "seal seals sealed sealer sealers sealing": "encrypt, sign, chain",
    "unseal unseals unsealed reseal reseals resealed resealer resealing": "decrypt, re-encrypt",
    "mint mints minted minting": "new_id",
    "forsake forsakes forsaken": "discard_idle_connections",
    "forestall forestalls forestalled forestalling": "record_cancel_before_create",
    "foretell foretells foretold": "preview",
    "hasten hastens hastened": "retry_now",
    "bury buries buried": "mark dead",
    "gatekeeper gatekeepers": "admission",
    "bursar bursars": "quota renewer",
    "desk desks": "dispatcher",
    "stray strays": "unclaimed shards",
    "shelf shelves": "class scanner",
    "knock knocks knocked": "login rate",
}
AS_NAMES = {"shown": "response, detail", "hands": "plain arguments"}
"""Words that are ordinary English in a sentence and say nothing as a name."""
IN_SENTENCES = {"letter": "dead letter"}
"""Words that are clear as a name and unclear in a sentence."""
WORDS = {word: better for words, better in RETIRED.items() for word in words.split()}
PROSE = re.compile(rf"\b({'|'.join(WORDS | IN_SENTENCES)})\b", re.IGNORECASE)
IN_PROSE = re.compile(
    r"dead[\s-]+letters?"  # the field's own word
    r"|wall[\s-]+(?:clock|time)"
    r"|(?:a|first|last|each|one|lower-case|upper-case|\d+) letters?\b(?! per)"  # of the alphabet
    r"|letters,? (?:and )?digits",
    re.IGNORECASE,
)
"""Where a retired word means what every reader takes it for."""
NOT_PROSE = (
    re.compile(r"(?s)```.*?```"),
    re.compile(r"`[^`]*`"),
    re.compile(r"(?m)^\s*(?:>>>|\.\.\.) .*$"),
    re.compile(r"\]\([^)]*\)|https?://\S+"),
    IN_PROSE,
)
STORED = {"SEALED": "an error code of attempts, in rows and answers"}
"""Identifiers whose text lies in databases: they stay everywhere."""
FIELDS = {
    "born": "a column of `backfill`, and a field of the API's answer",
    "sealed_at": "a column of `audit_block`",
    "sealed": "a column of `secret`, and a key in the JSON of a definition",
}
"""Names of columns and JSON keys: they stay as `one.born`, `born=` and `born: int`, and not as variables."""
ALPHABET = re.compile(r"(?s)from horae\.domain\.ids import [^\n]*\bletters\b|def letters\(id_")
"""Modules in which `letters` spells an id in letters of the alphabet."""


class Use(NamedTuple):
    """A retired word at a place."""

    path: str
    line: int
    word: str
    text: str

    def __str__(self) -> str:
        better = (WORDS | AS_NAMES | IN_SENTENCES)[self.word]
        return f"{self.path}:{self.line} {self.word} in {self.text} (rather: {better})"


def words_of(name: str) -> Iterator[str]:
    """The retired words among the parts of an identifier or a file name."""
    parts = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().split("_")
    for before, part in zip(("", *parts), parts, strict=False):
        if (part in WORDS or part in AS_NAMES) and not (before == "dead" and part == "letters"):
            yield part


def in_prose(text: str) -> Iterator[tuple[int, str, str]]:
    """Line, word and surroundings of each retired word in a text without its code."""
    for pattern in NOT_PROSE:
        text = pattern.sub(lambda found: re.sub(r"[^\n]", "~", found[0]), text)
    for found in PROSE.finditer(text):
        around = " ".join(text[max(0, found.start() - 20) : found.end() + 20].split())
        yield text.count("\n", 0, found.start()), found[0].lower(), f'"{around}"'


def stays(tokens: list[tokenize.TokenInfo], place: int, source: str) -> bool:
    """Whether the name at a place may keep its retired word."""
    before, token, after = tokens[place - 1], tokens[place], tokens[place + 1]
    if token.string in FIELDS and not token.line.lstrip().startswith(("from ", "import ")):
        return before.string == "." or after.string == ":" or (after.string == "=" and after.start == token.end)
    return token.string in STORED or (token.string == "letters" and ALPHABET.search(source) is not None)


def in_python(path: Path) -> Iterator[Use]:
    """The retired words in the identifiers, docstrings and comments of a module."""
    name, source = str(path.relative_to(ROOT)), path.read_text()
    tokens = [*tokenize.generate_tokens(io.StringIO(source).readline)]
    for place, token in enumerate(tokens):
        line = token.start[0]
        if token.type == tokenize.NAME:
            words = [*words_of(token.string)]
            if words and not stays(tokens, place, source):
                yield from (Use(name, line, word, token.string) for word in words)
        elif token.type == tokenize.COMMENT or (token.type == tokenize.STRING and '"""' in token.string[:4]):
            yield from (Use(name, line + after, word, text) for after, word, text in in_prose(token.string))
            for named in re.findall(r"(?<!`)`([A-Za-z_][\w.]*)`(?!`)", token.string):
                if named.rpartition(".")[2] not in STORED | FIELDS:
                    yield from (Use(name, line, word, f"`{named}`") for word in words_of(named.rpartition(".")[2]))


def modules() -> list[Path]:
    return [path for source in SOURCES for path in sorted(source.rglob("*.py"))]


def pages() -> list[Path]:
    found = [*map(ROOT.joinpath, ROOT_PAGES), *sorted((ROOT / "docs").rglob("*.md"))]
    return [path for path in found if not str(path.relative_to(ROOT)).startswith(HISTORY)]


def test_no_module_uses_a_retired_word():
    uses = [use for path in modules() for use in in_python(path)]
    assert not uses, f"{len(uses)} uses:\n" + "\n".join(map(str, uses))


def test_no_statement_uses_a_retired_word():
    uses = []
    for path in sorted((SOURCES[0] / "store" / "sql").rglob("*.sql")):
        name, text = str(path.relative_to(ROOT)), path.read_text()
        comments = "\n".join(
            line if line.startswith("-- ") and not line.startswith("-- :") else "" for line in text.splitlines()
        )
        uses += [Use(name, after + 1, word, said) for after, word, said in in_prose(comments)]
        parts = re.findall(r"(?m)^(?:with )?(\w+) as (?:not )?(?:materialized )?\(", text)
        uses += [Use(name, 0, word, part) for part in parts for word in words_of(part)]
    assert not uses, f"{len(uses)} uses:\n" + "\n".join(map(str, uses))


def test_no_file_is_named_by_a_retired_word():
    paths = [path for source in SOURCES for path in sorted(source.rglob("*"))]
    ours = [path for path in paths if not {MIGRATIONS, BUILT} & set(path.parents) and "__pycache__" not in path.parts]
    uses = [f"{path.relative_to(ROOT)}: {word}" for path in ours for word in words_of(path.stem)]
    assert not uses, f"{len(uses)} files:\n" + "\n".join(uses)


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_no_page_uses_a_retired_word(page):
    name = str(page.relative_to(ROOT))
    uses = [Use(name, after + 1, word, text) for after, word, text in in_prose(page.read_text())]
    assert not uses, "\n" + "\n".join(map(str, uses))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The doors told it.", ["doors", "told"]),
        ("A dead letter, dead\nletters and a wall clock; `told` and ```seal```.", []),
        ("1 to 100 letters, digits or dots", []),
        (">>> letters = list(client.dead_letters)\n", []),
        ("One letter per effect.", ["letter"]),
    ],
)
def test_prose_is_read_without_its_code(text, words):
    assert [word for _, word, _ in in_prose(text)] == words


def test_names_are_read_by_their_parts():
    assert [*words_of("MAX_SEALED_PAUSE")] == ["sealed"]
    assert [*words_of("WalledStore")] == ["walled"]
    assert [*words_of("dead_letters")] == [*words_of("DeadLetterMark")] == []
