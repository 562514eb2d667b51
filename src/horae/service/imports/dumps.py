"""Reads tables from exports of other systems: JSON, CSV, and the SQL text of mysqldump and pg_dump.

Table and column names are returned in lower case. A dump is only parsed, never executed.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from horae.domain.errors import Invalid

Rows = list[dict[str, Any]]
Tables = dict[str, Rows]
NAME: Final = r"[`\"]?(?:\w+[`\"]?\.[`\"]?)?(\w+)[`\"]?"
MADE: Final = re.compile(rf"create\s+table\s+(?:if\s+not\s+exists\s+)?{NAME}\s*\((.*?)\n\)", re.IGNORECASE | re.DOTALL)
COLUMN: Final = re.compile(r"^\s*[`\"]?(\w+)[`\"]?\s+\w", re.MULTILINE)
NO_COLUMN: Final = {"primary", "unique", "key", "constraint", "index", "foreign", "check", "fulltext"}
PUT: Final = re.compile(rf"insert\s+into\s+{NAME}\s*(?:\(([^)]*)\)\s*)?values\s*", re.IGNORECASE)
COPIED: Final = re.compile(
    rf"^copy\s+{NAME}\s*\(([^)]*)\)\s+from\s+stdin;\n(.*?)^\\\.$", re.IGNORECASE | re.DOTALL | re.MULTILINE
)
VALUE: Final = re.compile(
    r"\s*(?:(?:_binary\s+)?'((?:[^'\\]|\\.|'')*)'|(null|true|false)|(-?\d+(?:\.\d+)?)|(x'[0-9a-f]*'|0x[0-9a-f]+))\s*([,)])",
    re.IGNORECASE | re.DOTALL,
)
ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "b": "\b", "Z": "\x1a"}
WORDS: Final = {"null": None, "true": True, "false": False}


def read(text: str, *, alone: str) -> Tables:
    """Returns every table of a dump of any supported form. `alone` names the table where the dump has only rows."""
    begin = text.lstrip()[:1]
    if begin in {"[", "{"}:
        return _json(text, alone)
    tables = _sql(text)
    return tables or {alone: _read_separated(text)}


def _json(text: str, alone: str) -> Tables:
    """Reads an array of rows, an object of tables, one row per line, or the output of Django's dumpdata."""
    try:
        found = msgspec.json.decode(text)
    except msgspec.DecodeError:
        found = _lines(text)
    if isinstance(found, dict):
        if not all(isinstance(rows, list) for rows in found.values()):
            return {alone: [_row(found)]}
        return {_name(name): [_row(row) for row in rows] for name, rows in found.items()}
    if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
        raise Invalid("a JSON dump is an array of rows, or an object whose members are such arrays")
    if found and all({"model", "fields"} <= row.keys() for row in found):
        return _fixture(found)
    return {alone: [_row(row) for row in found]}


def _lines(text: str) -> Any:
    try:
        return [msgspec.json.decode(line) for line in text.splitlines() if line.strip()]
    except msgspec.DecodeError as error:
        raise Invalid(f"it begins like JSON but is not: {error}") from error


def _fixture(found: Rows) -> Tables:
    tables: Tables = {}
    for one in found:
        row = _row(one["fields"]) | {"id": one.get("pk")}
        tables.setdefault(_name(str(one["model"]).replace(".", "_")), []).append(row)
    return tables


def _read_separated(text: str) -> Rows:
    """Reads comma or tab separated values below a header line. NULL is written as database tools write it."""
    first = text.splitlines()[0] if text.strip() else ""
    reader = csv.DictReader(io.StringIO(text), delimiter="\t" if "\t" in first else ",")
    if len(reader.fieldnames or ()) < 2:
        raise Invalid("it is no dump we know: JSON, CSV with a line of names, or SQL of mysqldump or pg_dump")
    return [_row({key: None if value in {"NULL", "\\N"} else value for key, value in row.items()}) for row in reader]


def _sql(text: str) -> Tables:
    columns = {_name(made[1]): _columns(made[2]) for made in MADE.finditer(text)}
    tables: Tables = {}
    for put in PUT.finditer(text):
        name = _name(put[1])
        names = [_name(one) for one in put[2].split(",")] if put[2] else columns.get(name)
        if names is None:
            raise Invalid(f"the dump does not say what the columns of {name} are: dump it with its definition")
        tables.setdefault(name, []).extend(dict(zip(names, row, strict=True)) for row in _tuples(text, put.end()))
    for copied in COPIED.finditer(text):
        names = [_name(one) for one in copied[2].split(",")]
        rows = (map(_read_copied, line.split("\t")) for line in copied[3].splitlines())
        tables.setdefault(_name(copied[1]), []).extend(dict(zip(names, row, strict=True)) for row in rows)
    return tables


def _columns(body: str) -> list[str]:
    return [name.lower() for name in COLUMN.findall(body) if name.lower() not in NO_COLUMN]


def _tuples(text: str, place: int) -> Iterator[list[Any]]:
    """Yields the rows of one statement: `(…), (…);`."""
    while place < len(text) and text[place] == "(":
        row: list[Any] = []
        place += 1
        while True:
            found = VALUE.match(text, place)
            if found is None:
                raise Invalid(f"the dump cannot be read from here on: {text[place : place + 40]!r}")
            row.append(_value(found))
            place = found.end()
            if found[5] == ")":
                break
        yield row
        rest = re.compile(r"\s*,?\s*").match(text, place)
        place = rest.end() if rest else place


def _value(found: re.Match[str]) -> Any:
    if found[1] is not None:
        plain = found[1].replace("''", "'")
        return re.sub(r"\\(.)", lambda one: ESCAPED.get(one[1], one[1]), plain, flags=re.DOTALL)
    if found[2] is not None:
        return WORDS[found[2].lower()]
    if found[3] is not None:
        return float(found[3]) if "." in found[3] else int(found[3])
    digits = found[4][2:].strip("'")
    return bytes.fromhex(digits).decode("latin-1")


def _read_copied(text: str) -> str | None:
    return None if text == "\\N" else re.sub(r"\\(.)", lambda one: ESCAPED.get(one[1], one[1]), text)


def _row(row: Mapping[Any, Any]) -> dict[str, Any]:
    return {_name(str(key)): value for key, value in row.items()}


def _name(text: str) -> str:
    return text.strip().strip('`"').lower()
