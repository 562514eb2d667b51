"""The cells as the owner of their tables reaches them."""

from collections.abc import Iterable

from horae.runtime.settings import CellSettings


def owner_cells(cells: Iterable[CellSettings]) -> list[CellSettings]:
    """These cells for commands that only the owner may run: with `upkeep_dsn`, where it is given, and past a pooler."""
    return [
        cell.model_copy(
            update={"dsn": cell.upkeep_dsn or cell.direct_dsn or cell.dsn, "direct_dsn": None, "pooled": False}
        )
        for cell in cells
    ]
