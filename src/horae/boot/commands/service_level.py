"""`horae service-level`."""

from rich.table import Table

from horae.api.models.service_level import ServiceLevelView
from horae.boot.output import answer
from horae.boot.session import caller, out
from horae.domain.tenants.tenants import SYSTEM
from horae.service.health.service_level import levels_of


async def service_level() -> None:
    """Show how many due times were in time in 30 days, and how fast the error budget burns.

    For the configured tenant; for all tenants together where that is `system`.
    """
    async with caller() as ctx:
        tenant_id = None if ctx.tenant.name == SYSTEM else ctx.tenant.id
        found = await levels_of(ctx, tenant_id)
        ctx.cells_down.update(found.cells_down)
    view = ServiceLevelView.of(found)
    table = Table("cell", "priority", "due times", "late", "overdue", "in time", "budget left", "burns (1h, 6h, 3d)")
    for one in [*view.parts, view.total]:
        share = "–" if one.availability is None else f"{one.availability * 100:.3f} %"
        rates = ", ".join(f"{one.burn_rates[span]:g}" for span in ("1h", "6h", "3d"))
        table.add_row(
            getattr(one, "cell", "all"),
            getattr(one, "priority", ""),
            f"{one.expected:,}",
            f"{one.late:,}",
            f"{one.overdue:,}",
            share,
            f"{one.budget_remaining * 100:.1f} %",
            f"{rates} {', '.join(one.burning)}".rstrip(),
        )
    answer(view, lambda: out.print(table))
