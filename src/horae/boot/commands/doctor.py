"""`horae doctor`."""

import typer
from rich.table import Table
from rich.text import Text

from horae.boot.fitness import examine_api_rights, examine_node_roles, pooled_statement
from horae.boot.output import Exit, answer
from horae.boot.session import load, out
from horae.boot.transports import examine_dsns
from horae.domain.health.doctor import Diagnosis, Severity, examine, worst_first
from horae.runtime.settings import CellSettings, Settings
from horae.store import row_level_security
from horae.store.cells import Cell
from horae.store.health import health
from horae.store.store import Store
from horae.store.tx import GONE, UNREACHABLE, Tx
from horae.upkeep.doctor import examine_cell_members

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
    for its_settings in settings.api_cells_given():
        found[f"{its_settings.name}, as the API reaches it"] = await _api_findings(settings, its_settings)
    facts = [{"cell": name, **one._asdict()} for name, findings in found.items() for one in findings]
    answer(facts, lambda: out.print(*(_table(name, findings) for name, findings in found.items())))
    if any(one.level is Severity.FAULT for findings in found.values() for one in findings):
        raise typer.Exit(Exit.REFUSED)


async def _findings(settings: Settings, cell: Cell) -> list[Diagnosis]:
    """The findings about a cell; for a cell that is down, only that it is down."""
    try:
        async with cell.direct() as connection:
            facts = await health.facts(Tx(connection, cell.clock.now()), hosts=cell.hosts)
        production = settings.environment == "production"
        return [
            *examine(facts, production=production),
            *await examine_cell_members(cell, production=production),
            *await examine_node_roles(cell, production=production),
        ]
    except GONE as error:
        return [_unreachable(error)]


async def _api_findings(settings: Settings, given: CellSettings) -> list[Diagnosis]:
    """The findings about a cell as the API reaches it: transport, rights and row-level security."""
    transport = examine_dsns(settings, given)
    try:
        async with Store.of([given]) as store, pooled_statement(store.cells[0]) as tx:
            return worst_first([transport, await examine_api_rights(tx), await _examine_rows(tx)])
    except UNREACHABLE as error:
        return worst_first([transport, _unreachable(error)])


async def _examine_rows(tx: Tx) -> Diagnosis:
    name = "row-level security of the API"
    if await row_level_security.is_enforced(tx):
        return Diagnosis(Severity.OK, name, "shows it one tenant")
    return Diagnosis(Severity.FAULT, name, "does not hold its role", "set HORAE_API_DSN to the DSN of horae_api")


def _unreachable(error: Exception) -> Diagnosis:
    reason = str(error) or type(error).__name__
    return Diagnosis(Severity.FAULT, "reachable", f"no: {reason}", "start it, or mend the way to it")


def _table(name: str, findings: list[Diagnosis]) -> Table:
    table = Table("", "what", "found", "what to change", title=name, title_justify="left")
    for finding in findings:
        colour = COLOURS[finding.level]
        table.add_row(Text(finding.level, style=colour), finding.name, finding.found, finding.advice)
    return table
