"""Connections as the roles of a deployment make them."""

from urllib.parse import urlsplit

from horae.runtime.settings import CellSettings


def as_role(cells: list[CellSettings], role: str) -> list[CellSettings]:
    """The same cells, reached as one of our roles."""
    return [CellSettings(name=cell.name, dsn=_with_user(cell.dsn, role)) for cell in cells]


def as_node(cells: list[CellSettings]) -> list[CellSettings]:
    """The same cells as a node in production reaches them: by the engine's role, and by the owner's for upkeep."""
    return [
        cell.model_copy(update={"upkeep_dsn": owned.dsn})
        for owned, cell in zip(cells, as_role(cells, "horae_engine"), strict=True)
    ]


def _with_user(dsn: str, role: str) -> str:
    parts = urlsplit(dsn)
    return parts._replace(netloc=f"{role}@{parts.hostname}:{parts.port}").geturl()
