"""`horae doctor`."""

import typer
from rich.table import Table
from rich.text import Text

from horae.boot.output import Exit, answer
from horae.boot.session import load, out
from horae.boot.transports import examine_dsns
from horae.domain.health.doctor import Diagnosis, Severity, examine, worst_first
from horae.runtime.settings import Settings
from horae.store.cells import Cell
from horae.store.health import health
from horae.store.store import Store
from horae.store.tx import GONE, Tx

COLOURS = {Severity.OK: "green", Severity.HINT: "yellow", Severity.FAULT: "red"}


async def doctor() -> None:
    """Check every cell and suggest what to change. Exits with 1 if a guarantee is at risk."""
    found: dict[str, list[Diagnosis]] = {}
    settings = load(checked=False)
    given = settings.all_cells()
    async with Store.of(given) as store:
        for cell, its_settings in zip(store.cells, given, strict=True):
            transport = examine_dsns(settings, its_settings)
            found[cell.name] = worst_first([*await _findings(settings, cell), transport])
    facts = [{"cell": name, **one._asdict()} for name, findings in found.items() for one in findings]
    answer(facts, lambda: out.print(*(_table(name, findings) for name, findings in found.items())))
    if any(one.level is Severity.FAULT for findings in found.values() for one in findings):
        raise typer.Exit(Exit.REFUSED)


async def _findings(settings: Settings, cell: Cell) -> list[Diagnosis]:
    """The findings about a cell; for a cell that is down, only that it is down."""
    try:
        async with cell.direct() as connection:
            facts = await health.facts(Tx(connection, cell.clock.now()))
            return examine(facts, production=settings.environment == "production")
    except GONE as error:
        reason = str(error) or type(error).__name__
        return [Diagnosis(Severity.FAULT, "reachable", f"no: {reason}", "start it, or mend the way to it")]


def _table(name: str, findings: list[Diagnosis]) -> Table:
    table = Table("", "what", "found", "what to change", title=name, title_justify="left")
    for finding in findings:
        colour = COLOURS[finding.level]
        table.add_row(Text(finding.level, style=colour), finding.name, finding.found, finding.advice)
    return table
