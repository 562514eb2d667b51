"""Whether the DSNs of the settings lead over networks without a verified certificate, asked before anyone connects."""

from collections.abc import Iterable

from horae.domain.doctor import Finding, Level
from horae.domain.errors import Unfit
from horae.domain.transports import examine_transports
from horae.runtime.settings import CellSettings, Settings
from horae.store.transports import transport_of


def examine_dsns(settings: Settings, cell: CellSettings) -> Finding:
    """Judge every DSN of one cell."""
    given = [dsn for dsn in (cell.dsn, cell.direct_dsn, cell.upkeep_dsn) if dsn is not None]
    return examine_transports(
        [transport_of(dsn) for dsn in given],
        production=settings.environment == "production",
        optional=settings.database_tls == "optional",
    )


def check_dsns(settings: Settings, cells: Iterable[CellSettings]) -> None:
    """Refuse DSNs that are not protected as production needs it."""
    found = [(cell.name, examine_dsns(settings, cell)) for cell in cells]
    if wrong := [f"{name}: {one.name} is {one.found}: {one.advice}" for name, one in found if one.level is Level.FAULT]:
        raise Unfit("; ".join(wrong))
