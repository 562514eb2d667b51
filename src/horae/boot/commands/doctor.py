"""`horae doctor`."""

import typer
from rich.table import Table
from rich.text import Text

from horae.boot.session import load, out, run
from horae.boot.telling import Exit, answer
from horae.boot.transports import examine_dsns
from horae.domain.doctor import Finding, Level, examine, worst_first
from horae.runtime.settings import Settings
from horae.store import health
from horae.store.cells import Cell, Store
from horae.store.tx import GONE, Tx

COLOURS = {Level.OK: "green", Level.HINT: "yellow", Level.FAULT: "red"}


def doctor() -> None:
    """Look at every cell for what we rely on, and say what to change; exits with 1 when a promise is at risk."""

    async def work() -> bool:
        found: dict[str, list[Finding]] = {}
        settings = load(checked=False)
        given = settings.all_cells()
        async with Store.of(given) as store:
            for cell, its_settings in zip(store.cells, given, strict=True):
                transport = examine_dsns(settings, its_settings)
                found[cell.name] = worst_first([*await _findings(settings, cell), transport])
        told = [{"cell": name, **one._asdict()} for name, findings in found.items() for one in findings]
        answer(told, lambda: out.print(*(_table(name, findings) for name, findings in found.items())))
        return all(one.level is not Level.FAULT for findings in found.values() for one in findings)

    if not run(work):
        raise typer.Exit(Exit.REFUSED)


async def _findings(settings: Settings, cell: Cell) -> list[Finding]:
    """What is to be said of a cell; of one that is down nothing but that."""
    try:
        async with cell.direct() as connection:
            facts = await health.facts(Tx(connection, cell.clock.now()))
            return examine(facts, production=settings.environment == "production")
    except GONE as error:
        reason = str(error) or type(error).__name__
        return [Finding(Level.FAULT, "reachable", f"no: {reason}", "start it, or mend the way to it")]


def _table(name: str, findings: list[Finding]) -> Table:
    table = Table("", "what", "found", "what to change", title=name, title_justify="left")
    for finding in findings:
        colour = COLOURS[finding.level]
        table.add_row(Text(finding.level, style=colour), finding.name, finding.found, finding.advice)
    return table
