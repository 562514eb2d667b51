"""Temporary cells: a private PostgreSQL with a migrated template, and a fresh copy of it for each test."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from horae.boot.dev import cluster
from horae.runtime.settings import CellSettings
from horae.store import migrations
from horae.store.databases import databases

TEMPLATE: Final = "horae_template_{}"


class Databases:
    """A PostgreSQL server whose databases are created and dropped as tests need them."""

    def __init__(self, dsn: str, cells: int) -> None:
        self.dsn = dsn
        self.cells = cells
        self._numbers = count()

    async def prepare(self) -> None:
        """Migrate a template for every cell, once."""
        names = [TEMPLATE.format(number) for number in range(self.cells)]
        await databases.make(self.dsn, names)
        await migrations.migrate(self._settings(names), "test")

    @contextmanager
    def fresh(self) -> Iterator[list[CellSettings]]:
        """Unused cells, dropped at the end of the block."""
        number = next(self._numbers)
        names = [f"horae_test_{number}_{cell}" for cell in range(self.cells)]
        asyncio.run(databases.make(self.dsn, names, template=TEMPLATE))
        try:
            yield self._settings(names)
        finally:
            asyncio.run(databases.drop(self.dsn, names))

    def _settings(self, names: list[str]) -> list[CellSettings]:
        parts = urlsplit(self.dsn)
        urls = [urlunsplit(parts._replace(path=f"/{name}")) for name in names]
        return [CellSettings(name=f"cell-{number}", dsn=url) for number, url in enumerate(urls)]


@contextmanager
def throwaway(cells: int = 1) -> Iterator[Databases]:
    """A private PostgreSQL during the block; it listens on no port and is deleted at the end."""
    with cluster.throwaway() as dsn:
        made = Databases(dsn, cells)
        asyncio.run(made.prepare())
        yield made
