"""Checks, before connecting, whether a DSN leads over a network without a verified certificate."""

from collections.abc import Iterable

from horae.domain.connections.transports import examine_transports
from horae.domain.errors import Unfit
from horae.domain.health.doctor import Diagnosis, Severity
from horae.runtime.settings import CellSettings, Settings
from horae.store.connections.transports import transport_of


def examine_dsns(settings: Settings, cell: CellSettings) -> Diagnosis:
    """Check every DSN of one cell."""
    given = [dsn for dsn in (cell.dsn, cell.direct_dsn, cell.upkeep_dsn) if dsn is not None]
    return examine_transports(
        [transport_of(dsn) for dsn in given],
        production=settings.environment == "production",
        optional=settings.database_tls == "optional",
    )


def check_dsns(settings: Settings, cells: Iterable[CellSettings]) -> None:
    """Refuse DSNs that are not protected as production requires."""
    found = [(cell.name, examine_dsns(settings, cell)) for cell in cells]
    if wrong := [
        f"{name}: {one.name} is {one.found}: {one.advice}" for name, one in found if one.level is Severity.FAULT
    ]:
        raise Unfit("; ".join(wrong))
