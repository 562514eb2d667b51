"""Statements by name: `sql("instances/claim")` is the text of `sql/instances/claim.sql`.

One statement, one file, one function: the file is named after the only function that runs it.
"""

from functools import cache
from importlib import resources


@cache
def sql(name: str) -> str:
    """The text of one statement."""
    return resources.files("horae.store").joinpath("sql", f"{name}.sql").read_text()
