"""`horae doctor`."""

import typer
from rich.table import Table

from horae.boot.session import load, out, run
from horae.domain.doctor import Finding, Level, examine
from horae.store import health
from horae.store.cells import Store
from horae.store.tx import Tx

COLOURS = {Level.OK: "green", Level.HINT: "yellow", Level.FAULT: "red"}


def doctor() -> None:
    """Look at every cell for what we rely on, and say what to change; exits with 1 when a promise is at risk."""

    async def work() -> bool:
        sound = True
        async with Store.of(load().all_cells()) as store:
            for cell in store.cells:
                async with cell.direct() as connection:
                    findings = examine(await health.facts(Tx(connection, cell.clock.now())))
                out.print(_table(cell.name, findings))
                sound = sound and all(finding.level is not Level.FAULT for finding in findings)
        return sound

    if not run(work):
        raise typer.Exit(1)


def _table(name: str, findings: list[Finding]) -> Table:
    table = Table("", "what", "found", "what to change", title=name, title_justify="left")
    for finding in findings:
        colour = COLOURS[finding.level]
        table.add_row(f"[{colour}]{finding.level}[/{colour}]", finding.name, finding.found, finding.advice)
    return table
