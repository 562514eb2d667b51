"""Reads tables of another system from its database."""

from collections.abc import Sequence

from horae.service.imports import dumps
from horae.service.imports.dumps import Tables
from horae.store.sources import foreign_tables


async def read(dsn: str, names: Sequence[str]) -> Tables:
    """Returns the named tables in the form of a dump; missing ones are left out."""
    found = await foreign_tables.tables(dsn, names)
    return {name: dumps.read(text, alone=name)[name] for name, text in found.items()}
