"""Another system's tables out of its own database."""

from collections.abc import Sequence

from horae.service.imports import dumps
from horae.service.imports.dumps import Tables
from horae.store import foreign


async def read(dsn: str, names: Sequence[str]) -> Tables:
    """The named tables as a dump of them would say; those that are not there are left out."""
    found = await foreign.tables(dsn, names)
    return {name: dumps.read(text, alone=name)[name] for name, text in found.items()}
