"""Statements by name: `sql("tasks/batches/move")` is the text of `sql/tasks/batches/move.sql`.

One statement, one file, one function: the file has the path of the module and the name of the only function that runs
it. `move` in `store/tasks/batches.py` runs the one above.

A file names its parameters. Its first line (`-- :shard :tenant_id`) lists them in the order in which the function
passes them, its text uses them by name, and PostgreSQL gets `$1`, `$2`. A part such as `{fence}` stands for the text
of `sql/parts/fence.sql`, which may use the statement's parameters.
"""

import re
from functools import cache
from importlib import resources
from typing import Final

HEADER: Final = re.compile(r"--(?: :[a-z]\w*)+\n")
QUOTED: Final = r"""'[^']*'|"[^"]*"|--[^\n]*"""
"""Where neither a parameter nor a part can stand: literals, quoted names, comments."""
PART: Final = re.compile(QUOTED + r"|\{(?P<name>\w+)\}")
PARAMETER: Final = re.compile(QUOTED + r"|::|(?<![\w\])]):(?P<name>[a-z]\w*)")
"""A colon behind a word or a bracket belongs to an array slice, `[1:n]`."""


@cache
def sql(name: str) -> str:
    """The text of one statement as PostgreSQL gets it."""
    return number_parameters(name, _with_parts(_read(name)))


def number_parameters(name: str, text: str) -> str:
    """Write `$1` … `$n` for the names that the first line lists, and drop that line.

    Raises ValueError where the text and its first line differ.
    """
    header = HEADER.match(text)
    listed = [] if header is None else header[0].replace(":", "").split()[1:]
    places = {parameter: f"${place}" for place, parameter in enumerate(listed, 1)}
    body = text if header is None else text[header.end() :]
    used = {found["name"] for found in PARAMETER.finditer(body) if found["name"]}
    if len(places) < len(listed):
        raise ValueError(f"{name}.sql: the first line lists a name twice")
    if unlisted := used - places.keys():
        raise ValueError(f"{name}.sql: the first line does not list {', '.join(sorted(unlisted))}")
    if unused := places.keys() - used:
        raise ValueError(f"{name}.sql: the first line lists {', '.join(sorted(unused))}, the text does not use it")
    return PARAMETER.sub(lambda found: places[found["name"]] if found["name"] else found[0], body)


def _with_parts(text: str) -> str:
    return PART.sub(lambda found: _part(found["name"]) if found["name"] else found[0], text)


@cache
def _part(name: str) -> str:
    """The text of one part without the comment that explains it."""
    lines = _read(f"parts/{name}").splitlines()
    return "\n".join(line for line in lines if not line.startswith("--"))


def _read(name: str) -> str:
    return resources.files("horae.store").joinpath("sql", f"{name}.sql").read_text()
