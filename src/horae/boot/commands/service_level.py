"""`horae service-level`."""

from horae.boot.output import name_cells_down
from horae.boot.remote import remote
from horae.boot.tables import answer_rows
from horae_client.asked import scheduler as asked
from horae_client.models import Level


async def service_level() -> None:
    """Show how many due times were in time in 30 days, and how fast the error budget burns.

    For the tenant of your key; for all tenants together with a key of the tenant `system`.
    """
    async with remote() as api:
        reply = await api.ask(asked.service_level())
    view = reply.value
    name_cells_down(view.cells_down)
    rows = [_row(one.cell, one.priority, one) for one in view.parts] + [_row("all", "", view.total)]
    columns = ("cell", "priority", "due times", "late", "overdue", "in time", "budget left", "burns (1h, 6h, 3d)")
    answer_rows(reply.facts, columns, rows, empty="nothing was due yet", least=("due times", "overdue", "late"))


def _row(cell: str, priority: str, one: Level) -> tuple[object, ...]:
    share = "–" if one.availability is None else f"{one.availability * 100:.3f} %"
    rates = ", ".join(f"{one.burn_rates[span]:g}" for span in ("1h", "6h", "3d"))
    counts = (f"{one.expected:,}", f"{one.late:,}", f"{one.overdue:,}")
    left = f"{one.budget_remaining * 100:.1f} %"
    return (cell, priority, *counts, share, left, f"{rates} {', '.join(one.burning)}".rstrip())
