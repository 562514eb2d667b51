"""`horae capacity`."""

from typing import Annotated

import typer

from horae.boot.tables import answer_rows
from horae.domain.capacity.plan import Demand, amount_text, plan


async def capacity(
    jobs: Annotated[int, typer.Option(min=1, help="Jobs, or pending tasks where --payload is given.")],
    fires: Annotated[float, typer.Option(min=0.000001, help="Fires a second, on the average of a day.")],
    peak: Annotated[float | None, typer.Option(help="Fires a second at the peak; --fires where omitted.")] = None,
    payload: Annotated[int, typer.Option(min=0, help="Bytes of a task's payload; 0 for cron jobs without one.")] = 0,
    hot: Annotated[int, typer.Option(min=0, help="Days of history in PostgreSQL.")] = 14,
    cold: Annotated[int, typer.Option(min=0, help="Days of history in the archive.")] = 90,
    p95: Annotated[int, typer.Option(min=1, help="The trigger delay that 95 % of all fires keep, in ms.")] = 2000,
) -> None:
    """Compute cells, nodes, CPU, memory, connections, WAL, disk and network for a load, from measured figures.

    Needs neither an API nor a database. Each line names the report and the commit that its figure comes from.
    """
    demand = Demand(jobs, fires, fires if peak is None else peak, payload, hot, cold, p95)
    needs = plan(demand)
    rows = [(need.name, amount_text(need), need.basis) for need in needs]
    answer_rows([need._asdict() for need in needs], ("need", "amount", "from"), rows, empty="nothing", wraps=("from",))
